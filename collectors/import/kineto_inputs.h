#pragma once
// What Kineto says about an operation's inputs, as the run's schema writes them ("Operations").
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::importer {

/// Raw JSON arrays of an event's args; empty where the trace does not have them.
struct KinetoInputs {
    std::string_view types, dims, strides,
        values;  ///< "Input type", "Input Dims", "Input Strides", "Concrete Inputs"
    bool empty() const { return types.empty() && dims.empty(); }
};

/// One text for each argument. 64 readable bytes must follow each array.
std::vector<std::string> input_texts(const KinetoInputs& inputs);

}  // namespace attnscope::importer
