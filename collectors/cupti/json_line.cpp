#include "json_line.h"

namespace attnscope::collector {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_control(std::string& out, unsigned char c) {
    constexpr char hex[] = "0123456789abcdef";
    switch (c) {
        case '\n':
            out.append("\\n");
            return;
        case '\t':
            out.append("\\t");
            return;
        case '\r':
            out.append("\\r");
            return;
        default:
            break;
    }
    out.append("\\u00");
    out.push_back(hex[c >> 4]);
    out.push_back(hex[c & 15]);
}

}  // namespace

size_t utf8_sequence_length(const unsigned char* p, size_t left, size_t& skip) {
    skip = 1;
    const unsigned char lead = p[0];
    size_t length = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
        length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        length = 3;
        if (lead == 0xE0) low = 0xA0;
        if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        length = 4;
        if (lead == 0xF0) low = 0x90;
        if (lead == 0xF4) high = 0x8F;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; ++i) {
        if (i >= left || p[i] < low || p[i] > high) {
            skip = i;
            return 0;
        }
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

void append_utf8(std::string& out, uint32_t c) {
    const auto byte = [&out](uint32_t value) { out.push_back(static_cast<char>(value)); };
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) {
        out.append(kReplacement);
    } else if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xC0 | c >> 6);
        byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        byte(0xE0 | c >> 12);
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    } else {
        byte(0xF0 | c >> 18);
        byte(0x80 | (c >> 12 & 0x3F));
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    }
}

void append_json_string(std::string& out, std::string_view bytes) {
    out.push_back('"');
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data());
    size_t plain = 0;  // start of the part that needs no change
    for (size_t i = 0; i < bytes.size();) {
        const unsigned char c = p[i];
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
            ++i;
            continue;
        }
        size_t skip = 1;
        if (c >= 0x80) {
            if (const size_t length = utf8_sequence_length(p + i, bytes.size() - i, skip)) {
                i += length;
                continue;
            }
        }
        out.append(bytes.substr(plain, i - plain));
        if (c >= 0x80) {
            out.append(kReplacement);
        } else if (c < 0x20) {
            append_control(out, c);
        } else {
            out.push_back('\\');
            out.push_back(static_cast<char>(c));
        }
        i += skip;
        plain = i;
    }
    out.append(bytes.substr(plain));
    out.push_back('"');
}

std::string to_utf8(const wchar_t* wide) {
    std::string out;
    for (; *wide != L'\0'; ++wide) append_utf8(out, static_cast<uint32_t>(*wide));
    return out;
}

}  // namespace attnscope::collector
