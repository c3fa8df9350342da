#pragma once
// Kernel names are written once, as a `name` line, and referred to by number.
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include "json_line.h"

namespace attnscope::collector {

class NameTable {
  public:
    /// The name's number, from 1. A new one's line is appended to `lines`, to be written before its first
    /// use. One thread at a time.
    uint32_t id(const char* name, std::string& lines) {
        // The pointer is CUPTI's and may be reused for another name, so the text is compared.
        Recent& recent = recent_[(reinterpret_cast<uintptr_t>(name) >> 4) % recent_.size()];
        if (recent.name != nullptr && std::strcmp(name, recent.name->c_str()) == 0) return recent.id;
        const auto [entry, fresh] = ids_.try_emplace(name, static_cast<uint32_t>(ids_.size() + 1));
        if (fresh) JsonLine(lines, "name").number("id", entry->second).text("name", entry->first).end();
        recent = {&entry->first, entry->second};
        return entry->second;
    }

  private:
    struct Recent {
        const std::string* name = nullptr;
        uint32_t id = 0;
    };
    std::unordered_map<std::string, uint32_t> ids_;
    std::array<Recent, 64> recent_{};
};

}  // namespace attnscope::collector
