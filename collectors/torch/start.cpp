// The extension's entry. It is built for one version of LibTorch, which the injection library has checked.
#include <exception>

#include "operations.h"

extern "C" __attribute__((visibility("default"))) int attnscope_torch_start(const AttnscopeTorchSink* sink) {
    try {
        if (sink == nullptr || sink->size < sizeof(AttnscopeTorchSink)) return 1;
        attnscope::libtorch::follow_operations(*sink);
        return 0;
    } catch (const std::exception&) {
        return 1;
    }
}
