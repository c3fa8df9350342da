#pragma once
// One line of a run file: typed access that separates "absent" from "there, but not of the schema's type".
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::run_reader {

class Record {
  public:
    /// Replaces the fields; false when the line is not a JSON object.
    bool parse(simdjson::dom::parser& parser, const char* text, size_t length);

    std::string_view type() const { return type_; }
    std::optional<std::string_view> text(std::string_view key);
    std::optional<uint64_t> u64(std::string_view key);
    std::optional<uint32_t> u32(std::string_view key);
    std::optional<int64_t> i64(std::string_view key);
    std::optional<bool> flag(std::string_view key);
    std::optional<double> number(std::string_view key);  ///< finite
    std::vector<std::string> texts(std::string_view key);
    bool has(std::string_view key) const { return find(key) != nullptr; }
    /// An object in this one; the objects of an array in this one. Valid as long as the parser's document.
    std::optional<Record> object(std::string_view key);
    std::vector<Record> objects(std::string_view key);
    std::vector<std::string_view> keys() const;
    /// Every field whose key is not in `known`, scalars written as text.
    std::vector<std::pair<std::string, std::string>> others(
        std::initializer_list<std::string_view> known) const;

    /// The first key that had a wrong type since parse(); empty when none.
    const std::string& wrong_key() const { return wrong_; }

  private:
    struct Field {
        std::string_view key;
        simdjson::dom::element value;
    };
    void assign(simdjson::dom::object object);
    const simdjson::dom::element* find(std::string_view key) const;
    void wrong(std::string_view key) {
        if (wrong_.empty()) wrong_ = std::string(key);
    }

    std::vector<Field> fields_;
    std::vector<uint64_t> starts_;  ///< of each key: its first bytes and its length, to search by
    std::string_view type_;
    std::string wrong_;
};

}  // namespace attnscope::run_reader
