#pragma once
// Writes the run's lines by hand: the injection library carries no third-party code, because LibTorch exports
// its own copies.
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::collector {

/// Appends `bytes` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view bytes);

/// Length of the well-formed UTF-8 sequence at `p`, of which `left` bytes are there; 0 when it is not one
/// (Unicode 15, table 3-7). `skip` is then the length of the ill-formed part that one U+FFFD stands for.
size_t utf8_sequence_length(const unsigned char* p, size_t left, size_t& skip);
/// Surrogates and values beyond U+10FFFF become U+FFFD.
void append_utf8(std::string& out, uint32_t code_point);

/// UTF-32 (wchar_t on Linux) to UTF-8; surrogates and values beyond U+10FFFF become U+FFFD.
std::string to_utf8(const wchar_t* wide);

/// One flat record: JsonLine(out, "mark").text("name", name).number("time_ns", t).end();
class JsonLine {
  public:
    JsonLine(std::string& out, std::string_view type) : out_(out) {
        out_.append("{\"type\":\"").append(type).push_back('"');
    }
    JsonLine& text(std::string_view key, std::string_view value) {
        name(key);
        append_json_string(out_, value);
        return *this;
    }
    /// Leaves the field out when the text is empty: what is not known is absent.
    JsonLine& known(std::string_view key, std::string_view value) {
        return value.empty() ? *this : text(key, value);
    }
    JsonLine& number(std::string_view key, std::integral auto value) {
        name(key);
        char digits[24];
        out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
        return *this;
    }
    JsonLine& boolean(std::string_view key, bool value) {
        name(key);
        out_.append(value ? "true" : "false");
        return *this;
    }
    JsonLine& texts(std::string_view key, const std::vector<std::string>& values) {
        name(key);
        out_.push_back('[');
        for (size_t i = 0; i < values.size(); ++i) {
            if (i > 0) out_.push_back(',');
            append_json_string(out_, values[i]);
        }
        out_.push_back(']');
        return *this;
    }
    /// `json` as it stands: a real number, an array of objects.
    JsonLine& raw(std::string_view key, std::string_view json) {
        name(key);
        out_.append(json);
        return *this;
    }
    void end() { out_.append("}\n"); }

  private:
    void name(std::string_view key) { out_.append(",\"").append(key).append("\":"); }
    std::string& out_;
};

}  // namespace attnscope::collector
