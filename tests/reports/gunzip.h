#pragma once
// What the page's link holds, undone by other code than made it.
#include <zlib.h>

#include <stdexcept>
#include <string>

namespace attnscope::test {

inline std::string from_base64(const std::string& text) {
    static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    uint32_t bits = 0;
    int held = 0;
    for (const char c : text.substr(0, text.find('='))) {
        bits = bits << 6 | static_cast<uint32_t>(alphabet.find(c));
        if ((held += 6) >= 8) out += static_cast<char>(bits >> (held -= 8));
    }
    return out;
}

inline std::string gunzip(std::string bytes) {
    z_stream stream{};
    inflateInit2(&stream, 15 + 16);
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string out(16 << 20, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = inflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("no whole gzip stream");
    return out;
}

}  // namespace attnscope::test
