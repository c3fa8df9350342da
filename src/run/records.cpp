#include "records.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace attnscope::run_reader {

namespace {

/// Different for most keys: a search compares these, and the keys themselves where these are equal.
uint64_t start_of(std::string_view key) {
    uint64_t word = 0;
    std::memcpy(&word, key.data(), std::min(key.size(), sizeof word));
    return word ^ key.size() * 0x9e3779b97f4a7c15;
}

}  // namespace

bool Record::parse(simdjson::dom::parser& parser, const char* text, size_t length) {
    fields_.clear();
    starts_.clear();
    type_ = {};
    wrong_.clear();
    // The caller's buffer has simdjson's padding behind every line, so that nothing is copied here.
    simdjson::dom::element root;
    if (parser.parse(text, length, false).get(root)) return false;
    simdjson::dom::object object;
    if (root.get(object)) return false;
    assign(object);
    return true;
}

void Record::assign(simdjson::dom::object object) {
    for (auto [key, value] : object) {
        fields_.push_back({key, value});
        starts_.push_back(start_of(key));
    }
    if (const auto* found = find("type")) {
        std::string_view name;
        if (!found->get(name)) type_ = name;
    }
}

std::optional<Record> Record::object(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    simdjson::dom::object object;
    if (found->get(object)) {
        wrong(key);
        return std::nullopt;
    }
    Record record;
    record.assign(object);
    return record;
}

std::vector<Record> Record::objects(std::string_view key) {
    std::vector<Record> out;
    const auto* found = find(key);
    if (!found) return out;
    simdjson::dom::array array;
    if (found->get(array)) {
        wrong(key);
        return out;
    }
    for (simdjson::dom::element element : array) {
        simdjson::dom::object object;
        if (element.get(object))
            wrong(key);
        else
            out.emplace_back().assign(object);
    }
    return out;
}

std::vector<std::string_view> Record::keys() const {
    std::vector<std::string_view> out;
    for (const Field& field : fields_) out.push_back(field.key);
    return out;
}

const simdjson::dom::element* Record::find(std::string_view key) const {
    const uint64_t start = start_of(key);
    for (size_t i = 0; i < starts_.size(); ++i)
        if (starts_[i] == start && fields_[i].key == key) return &fields_[i].value;
    return nullptr;
}

std::optional<std::string_view> Record::text(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    std::string_view value;
    if (!found->get(value)) return value;
    wrong(key);
    return std::nullopt;
}

std::optional<uint64_t> Record::u64(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    uint64_t value = 0;
    if (!found->get(value)) return value;
    wrong(key);
    return std::nullopt;
}

std::optional<uint32_t> Record::u32(std::string_view key) {
    const auto value = u64(key);
    if (!value) return std::nullopt;
    if (*value <= std::numeric_limits<uint32_t>::max()) return static_cast<uint32_t>(*value);
    wrong(key);
    return std::nullopt;
}

std::optional<int64_t> Record::i64(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    int64_t value = 0;
    if (!found->get(value)) return value;
    wrong(key);
    return std::nullopt;
}

std::optional<bool> Record::flag(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    bool value = false;
    if (!found->get(value)) return value;
    wrong(key);
    return std::nullopt;
}

std::optional<double> Record::number(std::string_view key) {
    const auto* found = find(key);
    if (!found) return std::nullopt;
    double value = 0;
    if (!found->get(value) && std::isfinite(value)) return value;
    wrong(key);
    return std::nullopt;
}

std::vector<std::string> Record::texts(std::string_view key) {
    std::vector<std::string> out;
    const auto* found = find(key);
    if (!found) return out;
    simdjson::dom::array array;
    if (found->get(array)) {
        wrong(key);
        return out;
    }
    for (simdjson::dom::element element : array) {
        std::string_view value;
        if (element.get(value))
            wrong(key);
        else
            out.emplace_back(value);
    }
    return out;
}

std::vector<std::pair<std::string, std::string>> Record::others(
    std::initializer_list<std::string_view> known) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Field& field : fields_) {
        if (std::find(known.begin(), known.end(), field.key) != known.end()) continue;
        std::string_view text;
        if (!field.value.get(text))
            out.emplace_back(field.key, text);
        else if (field.value.is_object() || field.value.is_array())
            continue;  // flat records: what is nested is of a later schema
        else
            out.emplace_back(field.key, simdjson::minify(field.value));
    }
    return out;
}

}  // namespace attnscope::run_reader
