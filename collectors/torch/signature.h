#pragma once
// What an operation was called with, as a number to find it again by, and as text.
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hash.h"

namespace attnscope::libtorch {

/// Two numbers for one list of inputs: with the values of its numbers, and without. Booleans, "none" and
/// everything about tensors but their values are in both.
struct InputHash {
    Hash full, shapes;
    void add(c10::ArrayRef<const c10::IValue> inputs);

  private:
    void add_both(uint64_t a, uint64_t b);
    void add_one(const c10::IValue& value);
};

/// One text for each input (schema/README.md, "Operations"). `numbers`: false writes "int" and "float".
std::vector<std::string> describe(c10::ArrayRef<const c10::IValue> inputs, bool numbers);

/// "bf16"; "int64" ... as the run's files name it.
const char* dtype_name(c10::ScalarType type);

/// Sizes and strides may be asked for: not a wrapper whose answers come from Python or that has none.
bool is_plain(const c10::TensorImpl& tensor);

}  // namespace attnscope::libtorch
