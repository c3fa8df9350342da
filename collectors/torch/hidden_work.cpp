// What LibTorch 2.11's scaled_dot_product_attention does around a backend's kernel. LibTorch has no function
// that could be asked, so its steps are followed here (aten/src/ATen/native/transformers/attention.cpp of
// that version); tests hold the bytes against what its allocator is really asked for.
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>

#include "choice.h"

namespace attnscope::libtorch {
namespace {

/// What no tensor can have (a product beyond 64 bits) stays unsaid: see hidden_work.
struct Overflow {};

uint64_t product(std::initializer_list<uint64_t> factors) {
    uint64_t all = 1;
    for (const uint64_t factor : factors)
        if (__builtin_mul_overflow(all, factor, &all)) throw Overflow();
    return all;
}

uint64_t sum(std::initializer_list<uint64_t> terms) {
    uint64_t all = 0;
    for (const uint64_t term : terms)
        if (__builtin_add_overflow(all, term, &all)) throw Overflow();
    return all;
}

uint64_t elements(c10::IntArrayRef sizes) {
    uint64_t all = 1;
    for (const int64_t size : sizes) all = product({all, static_cast<uint64_t>(size)});
    return all;
}

uint64_t rows(const at::Tensor& tensor) {
    return elements(tensor.sizes().slice(0, static_cast<size_t>(tensor.dim() - 1)));
}

/// where(mask, 0, -inf): the result, and one element for each of the two scalars.
uint64_t conversion_bytes(uint64_t mask_elements, uint64_t element) {
    return sum({product({mask_elements, element}), 2 * element});
}

class Work {
  public:
    explicit Work(const AttentionArguments& call) : call_(call), element_(call.query.element_size()) {}

    std::vector<HiddenWork> flash() {
        const auto dim = static_cast<uint64_t>(call_.query.size(-1));
        if (dim % 8 == 0) return {};
        const uint64_t all_rows = sum({rows(call_.query), rows(call_.key), rows(call_.value)});
        add("pad-head-dim", product({all_rows, (dim / 8 + 1) * 8, element_}));
        return std::move(found_);
    }

    std::vector<HiddenWork> efficient() {
        if (!call_.mask.has_value()) return {};
        convert_mask();
        if (mask_is_aligned()) return std::move(found_);
        const auto length = static_cast<uint64_t>(call_.mask->size(-1));
        add("pad-mask", product({rows(*call_.mask), (length / 8 + 1) * 8, element_}));
        return std::move(found_);
    }

    std::vector<HiddenWork> cudnn() {
        if (call_.mask.has_value()) convert_mask();
        return std::move(found_);
    }

    std::vector<HiddenWork> math() {
        const at::ScalarType type = call_.query.scalar_type();
        const bool upcast = (type == at::kHalf || type == at::kBFloat16) &&
                            !at::globalContext().allowFP16BF16ReductionMathSDP();
        const uint64_t element = upcast ? 4 : element_;
        const uint64_t query = elements(call_.query.sizes()), key = elements(call_.key.sizes()),
                       value = elements(call_.value.sizes());
        const auto queries = static_cast<uint64_t>(call_.query.size(-2)),
                   keys = static_cast<uint64_t>(call_.key.size(-2));
        if (call_.mask.has_value()) convert_mask();
        if (upcast) add("upcast", product({sum({query, key, value}), element}));
        if (call_.causal) {
            const uint64_t mask = product({queries, keys});
            add("causal-mask", sum({mask, mask, conversion_bytes(mask, element)}));
        }
        const bool repeats =
            call_.grouped && call_.query.dim() >= 3 &&
            (call_.query.size(-3) != call_.key.size(-3) || call_.query.size(-3) != call_.value.size(-3));
        if (repeats)
            add("repeat-heads",
                product({sum({product({key, times(call_.key)}), product({value, times(call_.value)})}),
                         element}));
        // The scores' batches are one dimension to the matrix product: where the heads do not lie side by
        // side, it copies. What was computed is dense, in the order of dimensions that it was computed from.
        uint64_t copied = needs_copy(call_.query, true) ? query : 0;
        if (!repeats && needs_copy(call_.key, true)) copied = sum({copied, key});
        if (!repeats && needs_copy(call_.value, upcast)) copied = sum({copied, value});
        if (copied != 0) add("contiguous", product({copied, element}));
        if (upcast) {
            const uint64_t scores = product({rows(call_.query), keys});
            const uint64_t output = product({rows(call_.query), static_cast<uint64_t>(call_.value.size(-1))});
            add("downcast", product({sum({scores, output}), element_}));
        }
        return std::move(found_);
    }

  private:
    void add(const char* code, uint64_t bytes) {
        if (bytes != 0) found_.push_back({code, bytes});
    }

    void convert_mask() {
        if (call_.mask->scalar_type() != at::kBool) return;
        add("convert-mask", conversion_bytes(elements(call_.mask->sizes()), element_));
    }

    /// Every row begins at a multiple of 8 elements. A converted mask is dense.
    bool mask_is_aligned() const {
        const at::Tensor& mask = *call_.mask;
        const auto strides = mask.scalar_type() == at::kBool
                                 ? at::infer_dense_strides(mask.sizes(), mask.strides())
                                 : mask.strides().vec();
        for (size_t i = 0; i + 1 < strides.size(); ++i)
            if (strides[i] % 8 != 0) return false;
        return !strides.empty() && strides.back() == 1;
    }

    uint64_t times(const at::Tensor& tensor) const {
        return tensor.size(-3) == 0 ? 0 : static_cast<uint64_t>(call_.query.size(-3) / tensor.size(-3));
    }

    static bool needs_copy(const at::Tensor& tensor, bool computed) {
        const c10::IntArrayRef sizes = tensor.sizes();
        if (sizes.size() < 3) return false;
        const auto strides =
            computed ? at::infer_dense_strides(sizes, tensor.strides()) : tensor.strides().vec();
        const size_t batch = sizes.size() - 2;
        for (size_t i = 0; i + 1 < batch; ++i)
            if (sizes[i] != 1 && sizes[i + 1] != 1 && strides[i] != strides[i + 1] * sizes[i + 1])
                return true;
        // cuBLAS takes rows or columns that are dense.
        return strides[batch] != 1 && strides[batch + 1] != 1;
    }

    const AttentionArguments& call_;
    const uint64_t element_;
    std::vector<HiddenWork> found_;
};

}  // namespace

std::vector<HiddenWork> hidden_work(const std::string& backend, const AttentionArguments& call) {
    for (const at::Tensor* tensor : {&call.query, &call.key, &call.value})
        if (tensor->is_nested() || tensor->layout() != c10::kStrided || tensor->dim() < 2) return {};
    if (call.mask.has_value() && call.mask->dim() < 2) return {};
    try {
        Work work(call);
        if (backend == "flash") return work.flash();
        if (backend == "efficient") return work.efficient();
        if (backend == "cudnn") return work.cudnn();
        if (backend == "math") return work.math();
    } catch (const Overflow&) {
        // More than an address space holds: the call itself will say so.
    }
    return {};
}

}  // namespace attnscope::libtorch
