// Which kernels an executable graph launches, and whether in one order alone. Graphs are built by hand on the
// virtual driver. Right values: the nodes and edges that the test gave; for random graphs the definition
// itself, by transitive closure.
#include "graph_book.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "tests/virtual_gpu/core_support.h"

namespace attnscope::collector {
namespace {

class GraphBookTest : public core_test::Driver {
  protected:
    void SetUp() override {
        Driver::SetUp();
        ASSERT_CUDA(cuModuleLoadData(&module_, "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel k\nkernel other\n"));
        ASSERT_CUDA(cuModuleGetFunction(&function_, module_, "k"));
        ASSERT_CUDA(cuModuleGetFunction(&other_, module_, "other"));
        ASSERT_CUDA(cuMemAlloc(&memory_, 4096));
        ASSERT_CUDA(cuGraphCreate(&graph_, 0));
    }
    void TearDown() override {
        for (CUgraphExec exec : execs_) cuGraphExecDestroy(exec);
        cuGraphDestroy(graph_);
        cuMemFree(memory_);
        forget_module(nullptr);
        cuModuleUnload(module_);
        Driver::TearDown();
    }

    CUDA_KERNEL_NODE_PARAMS params(unsigned grid) const {
        CUDA_KERNEL_NODE_PARAMS p{};
        p.func = function_;
        p.gridDimX = grid;
        p.gridDimY = 2;
        p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
        p.blockDimX = 64;
        p.sharedMemBytes = 512;
        return p;
    }
    CUgraphNode kernel(unsigned grid, const std::vector<CUgraphNode>& after = {}, CUgraph graph = nullptr) {
        CUgraphNode node = nullptr;
        const CUDA_KERNEL_NODE_PARAMS p = params(grid);
        EXPECT_CUDA(
            cuGraphAddKernelNode(&node, graph != nullptr ? graph : graph_, after.data(), after.size(), &p));
        return node;
    }
    CUgraphNode memset(const std::vector<CUgraphNode>& after = {}) {
        CUDA_MEMSET_NODE_PARAMS set{};
        set.dst = memory_;
        set.elementSize = 1;
        set.width = 64;
        set.height = 1;
        CUgraphNode node = nullptr;
        EXPECT_CUDA(cuGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &set, context_));
        return node;
    }
    CUgraphNode empty(const std::vector<CUgraphNode>& after) {
        CUgraphNode node = nullptr;
        EXPECT_CUDA(cuGraphAddEmptyNode(&node, graph_, after.data(), after.size()));
        return node;
    }
    CUgraphNode child(CUgraph inner, const std::vector<CUgraphNode>& after) {
        CUgraphNode node = nullptr;
        EXPECT_CUDA(cuGraphAddChildGraphNode(&node, graph_, after.data(), after.size(), inner));
        return node;
    }
    void edge(CUgraphNode from, CUgraphNode to) {
        EXPECT_CUDA(cuGraphAddDependencies(graph_, &from, &to, nullptr, 1));
    }
    CUgraphExec instantiate() {
        CUgraphExec exec = nullptr;
        EXPECT_CUDA(cuGraphInstantiateWithFlags(&exec, graph_, 0));
        execs_.push_back(exec);
        book_.on_instantiated(exec, graph_, context_, 0);
        return exec;
    }
    std::shared_ptr<const GraphContent> read() { return book_.content_of(instantiate()); }
    static std::vector<uint32_t> grids(const GraphContent& content) {
        std::vector<uint32_t> found;
        for (const GraphKernel& k : content.kernels) found.push_back(k.grid[0]);
        return found;
    }

    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr, other_ = nullptr;
    CUdeviceptr memory_ = 0;
    CUgraph graph_ = nullptr;
    std::vector<CUgraphExec> execs_;
    GraphBook book_;
};

TEST_F(GraphBookTest, AChainHasOneOrderWhateverTheOrderOfItsNodes) {
    const CUgraphNode third = kernel(3), first = kernel(1), second = kernel(2);
    const CUgraphNode between = empty({first}), set = memset({between});
    edge(set, second);
    edge(second, third);
    edge(first, third);  // said twice over: no harm
    const auto content = read();
    EXPECT_TRUE(content->known);
    EXPECT_TRUE(content->order_known);
    EXPECT_EQ(grids(*content), (std::vector<uint32_t>{1, 2, 3}));
    EXPECT_EQ(content->copies_and_sets, 1u);
    const GraphKernel& k = content->kernels[0];
    EXPECT_EQ(k.node, first);
    EXPECT_EQ(k.function, function_);
    EXPECT_EQ(k.grid, (std::array<uint32_t, 3>{1, 2, 1}));
    EXPECT_EQ(k.block, (std::array<uint32_t, 3>{64, 1, 1}));
    EXPECT_EQ(k.cluster, (std::array<uint32_t, 3>{0, 0, 0}));
    EXPECT_EQ(k.dynamic_shared, 512u);
    EXPECT_EQ(k.facts->name, "k");
}

TEST_F(GraphBookTest, ADiamondHasTwoOrders) {
    const CUgraphNode top = kernel(1);
    const CUgraphNode left = kernel(2, {top}), right = kernel(3, {top});
    kernel(4, {left, right});
    const auto content = read();
    EXPECT_TRUE(content->known);
    EXPECT_FALSE(content->order_known);
    const auto order = grids(*content);
    ASSERT_EQ(order.size(), 4u);
    EXPECT_EQ(order.front(), 1u);
    EXPECT_EQ(order.back(), 4u);
}

TEST_F(GraphBookTest, NodesThatAreNoKernelsMayBeUnordered) {
    const CUgraphNode left = memset(), right = memset();
    kernel(1, {left, right});
    const auto content = read();
    EXPECT_TRUE(content->known && content->order_known);
    EXPECT_EQ(content->copies_and_sets, 2u);
}

TEST_F(GraphBookTest, AGraphWithoutKernels) {
    EXPECT_TRUE(read()->known);
    memset();
    const auto content = read();
    EXPECT_TRUE(content->known && content->order_known);
    EXPECT_TRUE(content->kernels.empty());
}

TEST_F(GraphBookTest, GraphsInsideGraphs) {
    CUgraph inner = nullptr, innermost = nullptr;
    ASSERT_CUDA(cuGraphCreate(&inner, 0));
    ASSERT_CUDA(cuGraphCreate(&innermost, 0));
    kernel(3, {kernel(2, {}, innermost)}, innermost);
    CUgraphNode nested = nullptr;
    ASSERT_CUDA(cuGraphAddChildGraphNode(&nested, inner, nullptr, 0, innermost));
    kernel(4, {nested}, inner);
    const CUgraphNode node = child(inner, {kernel(1)});
    kernel(5, {node});
    const auto content = read();
    EXPECT_TRUE(content->known && content->order_known);
    EXPECT_EQ(grids(*content), (std::vector<uint32_t>{1, 2, 3, 4, 5}));

    kernel(6, {}, inner);  // beside the others: the graph that was given is copied, so it is given again
    child(inner, {node});
    const auto second = read();
    EXPECT_TRUE(second->known);
    EXPECT_FALSE(second->order_known);
    EXPECT_EQ(second->kernels.size(), 9u);
    ASSERT_CUDA(cuGraphDestroy(inner));
    ASSERT_CUDA(cuGraphDestroy(innermost));
}

TEST_F(GraphBookTest, WhatAStreamCaptured) {
    CUstream stream = nullptr;
    ASSERT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (unsigned grid = 1; grid <= 5; ++grid)
        ASSERT_CUDA(cuLaunchKernel(grid == 3 ? other_ : function_, grid, 1, 1, 32, 1, 1, 0, stream, nullptr,
                                   nullptr));
    CUgraph captured = nullptr;
    ASSERT_CUDA(cuStreamEndCapture(stream, &captured));
    std::swap(captured, graph_);
    const auto content = read();
    EXPECT_TRUE(content->known && content->order_known);
    EXPECT_EQ(grids(*content), (std::vector<uint32_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(content->kernels[2].facts->name, "other");
    EXPECT_CUDA(cuGraphDestroy(captured));
    EXPECT_CUDA(cuStreamDestroy(stream));
}

TEST_F(GraphBookTest, TheClusterIsANodesAttribute) {
    const CUgraphNode node = kernel(4);
    CUkernelNodeAttrValue value{};
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    ASSERT_CUDA(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    EXPECT_EQ(read()->kernels.at(0).cluster, (std::array<uint32_t, 3>{2, 1, 1}));
}

TEST_F(GraphBookTest, KernelsOfLibraries) {
    CUlibrary library = nullptr;
    CUkernel loaded = nullptr;
    ASSERT_CUDA(cuLibraryLoadData(&library, "ATTNSCOPE-RUNTIME-SOURCE 1\nkernel of_library\n", nullptr,
                                  nullptr, 0, nullptr, nullptr, 0));
    ASSERT_CUDA(cuLibraryGetKernel(&loaded, library, "of_library"));
    CUDA_KERNEL_NODE_PARAMS p = params(1);
    p.func = nullptr;
    p.kern = loaded;
    CUgraphNode node = nullptr;
    ASSERT_CUDA(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &p));
    EXPECT_EQ(read()->kernels.at(0).facts->name, "of_library");
    EXPECT_CUDA(cuLibraryUnload(library));
}

TEST_F(GraphBookTest, NewParametersOfAKernel) {
    const CUgraphNode first = kernel(1), second = kernel(2, {first});
    const CUgraphExec exec = instantiate();
    const auto before = book_.content_of(exec);
    CUDA_KERNEL_NODE_PARAMS p = params(9);
    p.func = other_;
    ASSERT_CUDA(cuGraphExecKernelNodeSetParams(exec, second, &p));
    book_.on_kernel_params(exec, second, &p, false, context_, 0);
    const auto after = book_.content_of(exec);
    EXPECT_TRUE(after->known && after->order_known);
    EXPECT_EQ(grids(*after), (std::vector<uint32_t>{1, 9}));
    EXPECT_EQ(after->kernels[1].facts->name, "other");
    EXPECT_EQ(after->kernels[1].node, second);
    EXPECT_EQ(grids(*before), (std::vector<uint32_t>{1, 2}));  // whoever holds it keeps what was launched

    // The first version's structure ends before `kern`: what lies behind must not be read.
    struct {
        CUDA_KERNEL_NODE_PARAMS_v1 params;
        uintptr_t behind[2] = {1, 1};
    } old;
    std::memcpy(&old.params, &p, sizeof old.params);
    old.params.gridDimX = 11;
    book_.on_kernel_params(exec, second, reinterpret_cast<const CUDA_KERNEL_NODE_PARAMS*>(&old.params), true,
                           context_, 0);
    EXPECT_EQ(grids(*book_.content_of(exec)), (std::vector<uint32_t>{1, 11}));

    book_.on_kernel_params(exec, reinterpret_cast<CUgraphNode>(&p), &p, false, context_,
                           0);  // of no node of ours
    EXPECT_FALSE(book_.content_of(exec)->known);
}

TEST_F(GraphBookTest, UpdatesAndTheEnd) {
    const CUgraphNode node = kernel(1);
    const CUgraphExec exec = instantiate(), twin = instantiate();
    CUDA_KERNEL_NODE_PARAMS p = params(7);
    ASSERT_CUDA(cuGraphKernelNodeSetParams(node, &p));
    EXPECT_EQ(grids(*book_.content_of(exec)), (std::vector<uint32_t>{1}));  // the executable one is another
    CUgraphExecUpdateResultInfo info{};
    ASSERT_CUDA(cuGraphExecUpdate(exec, graph_, &info));
    book_.on_updated(exec, graph_, context_, 0);
    EXPECT_EQ(grids(*book_.content_of(exec)), (std::vector<uint32_t>{7}));
    EXPECT_EQ(grids(*book_.content_of(twin)), (std::vector<uint32_t>{1}));
    book_.on_changed(twin);
    EXPECT_FALSE(book_.content_of(twin)->known);
    book_.on_destroyed(exec);
    EXPECT_FALSE(book_.content_of(exec)->known);
    EXPECT_FALSE(book_.content_of(nullptr)->known);
    book_.on_instantiated(exec, nullptr, context_, 0);  // the driver refuses: nothing is known
    EXPECT_FALSE(book_.content_of(exec)->known);
}

/// Every two kernels ordered, by transitive closure, against the book's one pass.
TEST_F(GraphBookTest, RandomGraphsAgreeWithTheDefinition) {
    std::mt19937 random(20260101);
    int chains = 0;
    for (int round = 0; round < 400; ++round) {
        const size_t count = 2 + random() % 7;
        std::vector<CUgraphNode> nodes;
        std::vector<bool> is_kernel;
        std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
        for (size_t i = 0; i < count; ++i) {
            is_kernel.push_back(random() % 3 != 0);
            nodes.push_back(is_kernel[i] ? kernel(static_cast<unsigned>(i + 1)) : memset());
        }
        // Edges from any node to any that stands later in a random order.
        std::vector<size_t> order(count);
        for (size_t i = 0; i < count; ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random);
        const unsigned density = 1 + random() % 4;
        for (size_t a = 0; a < count; ++a)
            for (size_t b = a + 1; b < count; ++b)
                if (random() % 5 < density) {
                    edge(nodes[order[a]], nodes[order[b]]);
                    reaches[order[a]][order[b]] = true;
                }
        for (size_t via = 0; via < count; ++via)
            for (size_t a = 0; a < count; ++a)
                for (size_t b = 0; b < count; ++b)
                    if (reaches[a][via] && reaches[via][b]) reaches[a][b] = true;
        bool one_order = true;
        for (size_t a = 0; a < count; ++a)
            for (size_t b = a + 1; b < count; ++b)
                if (is_kernel[a] && is_kernel[b]) one_order = one_order && (reaches[a][b] || reaches[b][a]);

        const auto content = read();
        ASSERT_TRUE(content->known);
        ASSERT_EQ(content->order_known, one_order) << "round " << round;
        chains += one_order;
        const auto found = grids(*content);
        ASSERT_EQ(found.size(), static_cast<size_t>(std::count(is_kernel.begin(), is_kernel.end(), true)));
        for (size_t a = 0; a < found.size(); ++a)
            for (size_t b = a + 1; b < found.size(); ++b)
                ASSERT_FALSE(reaches[found[b] - 1][found[a] - 1]) << "round " << round;
        for (CUgraphNode node : nodes) ASSERT_CUDA(cuGraphDestroyNode(node));
    }
    EXPECT_GT(chains, 50);
    EXPECT_LT(chains, 350);
}

size_t resident_kb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.compare(0, 6, "VmRSS:") == 0) return std::stoul(line.substr(6));
    return 0;
}

TEST_F(GraphBookTest, MemoryIsBoundedHoweverManyGraphs) {
    CUgraphNode last = kernel(1);
    for (unsigned i = 2; i <= 40; ++i) last = kernel(i, {last});
    const auto handle = [](uintptr_t i) { return reinterpret_cast<CUgraphExec>(i * 16); };
    const uintptr_t many = 3 * GraphBook::kMaxGraphs;
    for (uintptr_t i = 1; i <= many; ++i) book_.on_instantiated(handle(i), graph_, context_, 0);
    const size_t full = resident_kb();
    for (uintptr_t i = many + 1; i <= 4 * many; ++i) book_.on_instantiated(handle(i), graph_, context_, 0);
    EXPECT_LT(resident_kb(), full + 8192);
    EXPECT_TRUE(book_.content_of(handle(4 * many))->known);
    EXPECT_FALSE(book_.content_of(handle(1))->known);
    size_t kept = 0;
    for (uintptr_t i = 1; i <= 4 * many; ++i) kept += book_.content_of(handle(i))->known;
    EXPECT_LE(kept, GraphBook::kMaxKernels / 40);
    EXPECT_GT(kept, GraphBook::kMaxKernels / 40 - 2);
}

}  // namespace
}  // namespace attnscope::collector
