#pragma once
// A call of scaled_dot_product_attention among the operations: what LibTorch chooses for it.
#include <ATen/record_function.h>

#include <cstdint>
#include <cstring>

#include "sink.h"

namespace attnscope::libtorch {

class AttentionCall {
  public:
    explicit AttentionCall(const at::RecordFunction& function) : function_(function) {
        const char* name = function.name();
        // Nearly every operation is told apart by its first letters.
        if (std::strncmp(name, "aten::scaled_dot", 16) != 0) return;
        is_one_ = std::strcmp(name, "aten::scaled_dot_product_attention") == 0;
        if (is_one_) settings_ = read_settings();
    }
    bool is_one() const { return is_one_; }
    /// A number for the switches and the order that LibTorch chooses by: with others it is another operation.
    uint64_t settings() const { return settings_; }

    /// Asks LibTorch, with no kernel run, and tells the answer. Says nothing where the call is not the one
    /// that is carried out (autocast and modes of Python call it again), or its tensors are wrappers.
    void tell_choice(const AttnscopeTorchSink& sink, uint32_t operation) const;

  private:
    static uint64_t read_settings();

    const at::RecordFunction& function_;
    bool is_one_ = false;
    uint64_t settings_ = 0;
};

}  // namespace attnscope::libtorch
