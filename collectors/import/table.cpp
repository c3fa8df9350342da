// Every format, and what looks like one and is none.
#include "importer.h"
#include "kineto.h"

namespace attnscope::importer {

const std::vector<Format>& formats() {
    static const std::vector<Format> table = {
        {"pytorch", "PyTorch profiler (Kineto) trace", is_kineto, read_kineto},
    };
    return table;
}

}  // namespace attnscope::importer
