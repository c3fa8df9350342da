#pragma once
// Operations that launch nothing themselves: they give a view of a tensor, or memory that nobody has written
// to. What they call is followed all the same (a deterministic empty() fills).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hash.h"

namespace attnscope::libtorch {

inline uint64_t name_hash(std::string_view name) {
    Hash hash;
    hash.add(name);
    return hash.value();
}

/// A hash table of their names. Operations of the dispatcher alone are asked for: a user's own may be called
/// anything, but not "aten::".
class QuietOperations {
  public:
    QuietOperations() {
        for (const std::string_view name : {"aten::view",           "aten::_unsafe_view",
                                            "aten::_reshape_alias", "aten::view_as",
                                            "aten::transpose",      "aten::t",
                                            "aten::permute",        "aten::movedim",
                                            "aten::swapaxes",       "aten::swapdims",
                                            "aten::numpy_T",        "aten::mT",
                                            "aten::expand",         "aten::expand_as",
                                            "aten::broadcast_to",   "aten::slice",
                                            "aten::select",         "aten::narrow",
                                            "aten::split",          "aten::split_with_sizes",
                                            "aten::chunk",          "aten::unsafe_split",
                                            "aten::unsafe_chunk",   "aten::tensor_split",
                                            "aten::unbind",         "aten::as_strided",
                                            "aten::as_strided_",    "aten::detach",
                                            "aten::detach_",        "aten::alias",
                                            "aten::squeeze",        "aten::unsqueeze",
                                            "aten::unflatten",      "aten::diagonal",
                                            "aten::unfold",         "aten::empty",
                                            "aten::empty_like",     "aten::empty_strided",
                                            "aten::new_empty",      "aten::new_empty_strided",
                                            "aten::lift_fresh",     "aten::is_same_size",
                                            "aten::resolve_conj",   "aten::resolve_neg"}) {
            size_t at = name_hash(name) % kSlots;
            while (hashes_[at] != 0) at = (at + 1) % kSlots;
            hashes_[at] = name_hash(name);
        }
    }
    bool has(uint64_t hash) const {
        for (size_t at = hash % kSlots; hashes_[at] != 0; at = (at + 1) % kSlots)
            if (hashes_[at] == hash) return true;
        return false;
    }

  private:
    static constexpr size_t kSlots = 256;
    uint64_t hashes_[kSlots] = {};
};

}  // namespace attnscope::libtorch
