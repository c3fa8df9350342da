#include "marks.h"

#include <nvtx3/nvToolsExt.h>

namespace attention {

ProcessRange::ProcessRange(const std::string& name) : id_(nvtxRangeStartA(name.c_str())) {}
ProcessRange::~ProcessRange() {
    nvtxRangeEnd(id_);
}

void mark(const std::string& kind, const nlohmann::json& content) {
    using nlohmann::json;
    const std::string text = content.dump(-1, ' ', false, json::error_handler_t::replace);
    nvtxMarkA(("attnscope." + kind + " " + text).c_str());
}

}  // namespace attention
