// FlashAttention 2: the shared memory that a tile needs.
#include <algorithm>

#include "attnscope/kernel_name.h"

namespace attnscope {
namespace {

using Name = AttentionKernelName;

constexpr Provenance kComputed{Source::model, Ground::real};
constexpr uint64_t kLargest = 4096;  // no tile side is larger; keeps the products far from overflow

std::string text(uint64_t value) {
    return std::to_string(value);
}

Value bytes(uint64_t value, std::string formula) {
    return Value::of(static_cast<double>(value), Unit::bytes, kComputed, std::move(formula));
}

Value forward(const Name& name, uint64_t d, uint64_t m, uint64_t n) {
    if (*name.shares_q_and_k)
        return bytes(2 * d * std::max(m, 2 * n),
                     "2 * " + text(d) + " * max(" + text(m) + ", 2 * " + text(n) + ")");
    return bytes(2 * d * (m + 2 * n), "2 * " + text(d) + " * (" + text(m) + " + 2 * " + text(n) + ")");
}

Value backward(const Name& name, uint64_t d, uint64_t m, uint64_t n) {
    const uint64_t buffers = *name.single_buffer ? 2 : 3;
    const std::string dm = text(buffers) + " * " + text(d) + " * " + text(m);
    const std::string dn = text(d) + " * " + text(n), mn = "2 * " + text(m) + " * " + text(n);
    if (!*name.v_in_registers)
        return bytes(2 * (buffers * d * m + 2 * d * n + 2 * m * n),
                     "2 * (" + dm + " + 2 * " + dn + " + " + mn + ")");
    return bytes(2 * (buffers * d * m + std::max(2 * d * n, d * n + 2 * m * n)),
                 "2 * (" + dm + " + max(2 * " + dn + ", " + dn + " + " + mn + "))");
}

}  // namespace

Value expected_shared_bytes(const Name& name) {
    const auto missing = [](const char* why) { return Value::missing(why, Unit::bytes, kComputed); };
    if (name.library != Name::Library::flash2)
        return missing("the name does not hold the layout of shared memory");
    if (name.part == Name::Part::combine || name.part == Name::Part::backward_dot) return bytes(0, "0");
    if (name.element != "bf16" && name.element != "f16") return missing("the formula is for 16-bit elements");
    if (!name.head_dim || !name.block_queries || !name.block_keys)
        return missing("the name does not hold the tile");
    const uint64_t d = *name.head_dim, m = *name.block_queries, n = *name.block_keys;
    if (std::max({d, m, n}) > kLargest) return missing("the tile in the name is absurdly large");
    switch (name.part) {
        case Name::Part::backward_convert:
            return bytes(2 * d * m, "2 * " + text(d) + " * " + text(m));
        case Name::Part::backward:
            if (!name.single_buffer || !name.v_in_registers)
                return missing("the name does not hold its buffers");
            return backward(name, d, m, n);
        default:
            if (!name.shares_q_and_k) return missing("the name does not hold its buffers");
            return forward(name, d, m, n);
    }
}

std::optional<std::string> shared_bytes_differ(const Name& name, uint64_t launched_with) {
    const Value expected = expected_shared_bytes(name);
    if (!expected || static_cast<uint64_t>(*expected.number) == launched_with) return std::nullopt;
    return "launched with " + text(launched_with) + " bytes of dynamic shared memory; its tile needs " +
           text(static_cast<uint64_t>(*expected.number)) + " (" + expected.formula + ")";
}

}  // namespace attnscope
