// Launches lined up: what is the same, other, new, gone, and what a library call became.
#include <gtest/gtest.h>

#include "attnscope/compare.h"

namespace attnscope {
namespace {

const Provenance kTrace{Source::trace, Ground::real};

Step kernel(const std::string& name, Role role = Role::other, uint32_t grid = 8) {
    Step s;
    s.name = s.full_name = name;
    s.role = role;
    s.grid = Dim3{grid, 1, 1};
    s.registers = Value::of(32, Unit::registers, kTrace);
    return s;
}

Step call(const std::string& operation, Role role, int m = 64) {
    Step s;
    s.kind = LaunchKind::library_call;
    s.role = role;
    s.call = LibraryCall{"cuBLAS", "cublasGemmEx", operation, {{"m", std::to_string(m)}}};
    s.name = "cuBLAS " + operation;
    return s;
}

Step copy(double bytes, const std::string& kind = "DtoD") {
    Step s;
    s.kind = LaunchKind::memcpy;
    s.copy_kind = kind;
    s.name = "copy " + kind;
    s.bytes = Value::of(bytes, Unit::bytes, kTrace);
    return s;
}

/// "same 0-0, gone 1-, added -1"
std::string words(const std::vector<StepPair>& pairs) {
    std::string out;
    for (const StepPair& p : pairs)
        out += (out.empty() ? "" : ", ") + std::string(to_string(p.change)) + " " +
               (p.a < 0 ? "" : std::to_string(p.a)) + "-" + (p.b < 0 ? "" : std::to_string(p.b));
    return out;
}

TEST(LineUp, OfTheSame) {
    const std::vector<Step> a = {kernel("x"), copy(8), call("gemm", Role::gemm)};
    EXPECT_EQ(words(line_up(a, a)), "same 0-0, same 1-1, same 2-2");
    EXPECT_EQ(words(line_up({}, {})), "");
}

TEST(LineUp, AnotherGridIsAChange) {
    const auto pairs = line_up({kernel("x")}, {kernel("x", Role::other, 9)});
    ASSERT_EQ(words(pairs), "changed 0-0");
    ASSERT_EQ(pairs[0].differences.size(), 1U);
    EXPECT_EQ(pairs[0].differences[0].what, "grid");
    EXPECT_EQ(pairs[0].differences[0].a, "8 x 1 x 1");
    EXPECT_EQ(pairs[0].differences[0].b, "9 x 1 x 1");
}

// A run that did not record registers says nothing about them.
TEST(LineUp, WhatOneRunDoesNotHoldIsNoDifference) {
    Step without = kernel("x");
    without.registers = Value::missing("not in the record");
    without.grid.reset();
    EXPECT_EQ(words(line_up({kernel("x")}, {without})), "same 0-0");
}

TEST(LineUp, ResourcesBytesAndAttributesCount) {
    Step spilled = kernel("x");
    spilled.registers = Value::of(255, Unit::registers, kTrace);
    EXPECT_EQ(words(line_up({kernel("x")}, {spilled})), "changed 0-0");
    EXPECT_EQ(words(line_up({copy(8)}, {copy(16)})), "changed 0-0");
    EXPECT_EQ(words(line_up({copy(8)}, {copy(8, "HtoD")})), "gone 0-, added -0") << "another direction";
    const auto calls = line_up({call("gemm", Role::gemm, 64)}, {call("gemm", Role::gemm, 65)});
    ASSERT_EQ(words(calls), "changed 0-0");
    EXPECT_EQ(calls[0].differences[0].what, "m");
    Step twice = kernel("x");
    twice.times = 2;
    EXPECT_EQ(words(line_up({kernel("x")}, {twice})), "changed 0-0");
}

TEST(LineUp, NotByPosition) {
    const std::vector<Step> a = {kernel("p"), kernel("q"), kernel("r")};
    const std::vector<Step> b = {kernel("cast"), kernel("p"), kernel("q"), kernel("cast"), kernel("r")};
    EXPECT_EQ(words(line_up(a, b)), "added -0, same 0-1, same 1-2, added -3, same 2-4");
    EXPECT_EQ(words(line_up(b, a)), "gone 0-, same 1-0, same 2-1, gone 3-, same 4-2");
}

// Between matches, the same work by another kernel: by role, else by the operation of LibTorch.
TEST(LineUp, AnotherKernelForTheSameWork) {
    EXPECT_EQ(words(line_up({kernel("p"), kernel("softmax_warp", Role::softmax), kernel("r")},
                            {kernel("p"), kernel("cunn_SoftMax", Role::softmax), kernel("r")})),
              "same 0-0, replaced 1-1, same 2-2");
    Step old_kernel = kernel("triton_1"), new_kernel = kernel("triton_2"), other = kernel("triton_3");
    old_kernel.origin.operations = new_kernel.origin.operations = {"aten::gelu"};
    other.origin.operations = {"aten::dropout"};
    EXPECT_EQ(words(line_up({old_kernel}, {new_kernel})), "replaced 0-0");
    EXPECT_EQ(words(line_up({old_kernel}, {other})), "gone 0-, added -0");
    EXPECT_EQ(words(line_up({kernel("a")}, {kernel("b")})), "gone 0-, added -0")
        << "nothing is known of them";
}

// On a virtual GPU cuBLAS and cuDNN are calls; a real one has their kernels, one or more.
TEST(LineUp, ACallBecomesItsKernels) {
    const std::vector<Step> predicted = {kernel("p"), call("gemm", Role::gemm), kernel("q")};
    const std::vector<Step> measured = {kernel("p"), kernel("splitK", Role::gemm),
                                        kernel("reduce", Role::gemm), kernel("q")};
    EXPECT_EQ(words(line_up(predicted, measured)), "same 0-0, resolved 1-1, resolved -2, same 2-3");
    EXPECT_EQ(words(line_up(measured, predicted)), "same 0-0, resolved 1-1, resolved 2-, same 3-2");
    const std::vector<Step> more = {kernel("p"), kernel("gemm_1", Role::gemm),
                                    kernel("cast", Role::cast_or_copy), kernel("q")};
    EXPECT_EQ(words(line_up(predicted, more)), "same 0-0, resolved 1-1, added -2, same 2-3");
}

TEST(LineUp, EveryLaunchIsThereOnce) {
    const std::vector<Step> a = {kernel("x"), kernel("x"), copy(1), kernel("y", Role::gemm)};
    const std::vector<Step> b = {kernel("y", Role::gemm), kernel("x"), call("gemm", Role::gemm), kernel("x"),
                                 copy(2)};
    std::vector<int> in_a(a.size()), in_b(b.size());
    for (const StepPair& p : line_up(a, b)) {
        if (p.a >= 0) ++in_a.at(static_cast<size_t>(p.a));
        if (p.b >= 0) ++in_b.at(static_cast<size_t>(p.b));
        EXPECT_TRUE(p.a >= 0 || p.b >= 0);
    }
    for (const int n : in_a) EXPECT_EQ(n, 1);
    for (const int n : in_b) EXPECT_EQ(n, 1);
}

TEST(LineUp, AcceptsEmptyAndHostileNames) {
    Step nothing;
    Step broken;
    broken.kind = LaunchKind::library_call;  // a call of which the record says nothing
    const std::vector<Step> a = {kernel(""), kernel("\n\x01\xff"), nothing, broken};
    EXPECT_EQ(line_up(a, a).size(), 4U);
    EXPECT_EQ(line_up(a, {}).size(), 4U);
}

}  // namespace
}  // namespace attnscope
