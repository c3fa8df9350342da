// CUDA_VISIBLE_DEVICES, as the CUDA programming guide describes it.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "collectors/virtual_gpu/core/device.h"

namespace attnscope::vgpu {

std::string uuid_text(const CUuuid& uuid) {
    std::string text = "GPU-";
    for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
        char byte[4];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += byte;
    }
    return text;
}

namespace {
// -1 when the entry names no device or, for a UUID prefix, more than one.
int find(const std::string& entry, const std::vector<std::string>& uuids) {
    if (entry.rfind("GPU-", 0) == 0) {
        int found = -1;
        for (size_t i = 0; i < uuids.size(); i++) {
            if (uuids[i].rfind(entry, 0) != 0) continue;
            if (found >= 0) return -1;
            found = static_cast<int>(i);
        }
        return found;
    }
    if (entry.empty() || !std::isdigit(static_cast<unsigned char>(entry[0]))) return -1;
    char* end = nullptr;
    const unsigned long index = std::strtoul(entry.c_str(), &end, 10);
    return *end == '\0' && index < uuids.size() ? static_cast<int>(index) : -1;
}
}  // namespace

std::vector<int> visible_devices(const char* text, const std::vector<std::string>& uuids) {
    std::vector<int> chosen;
    if (text == nullptr) {
        for (size_t i = 0; i < uuids.size(); i++) chosen.push_back(static_cast<int>(i));
        return chosen;
    }
    std::string rest = text;
    for (size_t start = 0; start <= rest.size();) {
        const size_t comma = std::min(rest.find(',', start), rest.size());
        std::string entry = rest.substr(start, comma - start);
        entry.erase(0, entry.find_first_not_of(" \t"));
        entry.erase(entry.find_last_not_of(" \t") + 1);
        const int index = find(entry, uuids);
        if (index < 0 || std::find(chosen.begin(), chosen.end(), index) != chosen.end()) break;
        chosen.push_back(index);
        start = comma + 1;
    }
    return chosen;
}

}  // namespace attnscope::vgpu
