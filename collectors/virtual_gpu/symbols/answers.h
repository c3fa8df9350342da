#pragma once
// What status and version functions have in common: a table from a status to its name.
#include <cstddef>

namespace attnscope::vgpu {

struct StatusName {
    int status;
    const char* name;
};

template <size_t N>
const char* status_name(const StatusName (&table)[N], int status, const char* unknown) {
    for (const StatusName& row : table)
        if (row.status == status) return row.name;
    return unknown;
}

/// Versions by libraryPropertyType (library_types.h): 0 major, 1 minor, 2 patch level.
inline bool version_property(const int (&version)[3], int type, int* value) {
    if (type < 0 || type > 2 || !value) return false;
    *value = version[type];
    return true;
}

}  // namespace attnscope::vgpu
