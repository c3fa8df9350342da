// A counters collection of single kernels over the strict stand-in. Right values: the program's own source
// (what it launches), the activity collection of the same program, the fixture (which kernel has which
// value).
#include <algorithm>
#include <set>

#include "counters_run.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::of_type;

struct CountedKernels : test::CountersRun {
    /// What both collections say of a launch, in the order of issue. Graph nodes have no order of their own
    /// where the graph gives none, so equal correlations are put in the order of names.
    std::vector<std::string> facts(const std::string& type, bool with_kind = true) const {
        std::vector<std::pair<uint64_t, std::string>> all;
        for (json line : of_type(lines, type)) {
            const uint64_t correlation = line["correlation"];
            if (type == "kernel") line["name"] = name_of(line);
            if (!with_kind) line.erase("copy_kind");
            for (const char* key : {"correlation", "thread", "graph", "graph_node", "uncounted"})
                line.erase(key);
            all.emplace_back(correlation, line.dump());
        }
        std::sort(all.begin(), all.end());
        std::vector<std::string> texts;
        for (auto& [correlation, text] : all) texts.push_back(std::move(text));
        return texts;
    }
};

TEST_F(CountedKernels, EachKindOfLaunchWithItsOwnValue) {
    ASSERT_EQ(collect(program() + "kinds"), 21) << error;
    EXPECT_EQ(output, "done\n");
    EXPECT_EQ(lines[0]["collection"], "counters");
    EXPECT_EQ(lines[0]["version"], "1.1");
    // counters_program.cpp, kinds(): five launches succeed, two are refused by the driver.
    const auto all = kernels();
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(name_of(all[1]), "third_kernel");
    EXPECT_EQ(all[1]["dynamic_shared"], 4096);
    EXPECT_EQ(all[2]["cluster_x"], 2);
    EXPECT_EQ(all[2]["block_y"], 2);
    EXPECT_EQ(all[2]["static_shared"], 1024);
    EXPECT_EQ(all[3]["launch_type"], 1);
    EXPECT_EQ(all[4]["block_x"], 96);
    EXPECT_EQ(all[4]["grid_y"], 2);
    EXPECT_EQ(check_values(), 5u);
    EXPECT_EQ(of_type(lines, "diagnostic").size(), 0u);
    EXPECT_EQ(of_type(lines, "end").at(0)["kernels"], 5);
    EXPECT_EQ(values.at(0)["ground"], "fixture");
}

TEST_F(CountedKernels, ARawDataFileWithChecksums) {
    ASSERT_EQ(collect(program() + "launch=6"), 21) << error;
    bool whole = false;
    const auto records = test::read_data(data_file(), whole);
    EXPECT_TRUE(whole);
    ASSERT_EQ(records.size(), 7u);
    EXPECT_EQ(records[0].header.kind, DataKind::config);
    EXPECT_TRUE(fs::exists(run() / "counters" / (records[0].payload + ".config")));
    const auto all = kernels();
    for (size_t i = 1; i < records.size(); ++i) {
        const DataHeader& header = records[i].header;
        EXPECT_EQ(header.kind, DataKind::image);
        EXPECT_EQ(header.of, DataOf::launch);
        EXPECT_EQ(header.expected, 1u);
        EXPECT_EQ(header.id, all[i - 1]["correlation"]);
        EXPECT_EQ(header.device, 0);
        EXPECT_EQ(header.context, all[i - 1]["context"]);
        EXPECT_EQ(header.dropped, 0u);
        EXPECT_EQ(header.bytes, records[1].header.bytes);
    }
}

TEST_F(CountedKernels, EqualToTheActivityCollection) {
    const std::string work = program() + "kinds copies launch=5 context graphs device collective";
    ASSERT_EQ(collect(work), 21) << error;
    const auto kernels = facts("kernel"), copies = facts("memcpy"), sets = facts("memset");
    size_t kinds = 0;
    for (const json& copy : of_type(lines, "memcpy")) kinds += copy.contains("copy_kind") ? 1 : 0;
    EXPECT_EQ(kinds, 4u) << "all but cuMemcpyAsync say their direction";
    const auto without_kind = facts("memcpy", false);
    ASSERT_EQ(collect(work, "--counters none"), 21) << error;
    EXPECT_EQ(lines[0]["collection"], "activity");
    EXPECT_EQ(kernels, facts("kernel"));
    EXPECT_EQ(without_kind, facts("memcpy", false));
    EXPECT_EQ(sets, facts("memset"));
    EXPECT_GT(kernels.size(), 40u);
}

TEST_F(CountedKernels, ManyThreadsAndStreams) {
    ASSERT_EQ(collect(program() + "threads=8"), 21) << error;
    // counters_program.cpp, threads(): eight threads, each on a stream of its own, 20 launches each.
    const auto all = kernels();
    ASSERT_EQ(all.size(), 160u);
    std::set<uint64_t> streams, threads, correlations;
    for (const json& kernel : all) {
        streams.insert(kernel["stream"].get<uint64_t>());
        threads.insert(kernel["thread"].get<uint64_t>());
        correlations.insert(kernel["correlation"].get<uint64_t>());
    }
    EXPECT_EQ(streams.size(), 8u);
    EXPECT_EQ(threads.size(), 8u);
    EXPECT_EQ(correlations.size(), 160u);
    EXPECT_EQ(check_values(), 160u) << error;
}

TEST_F(CountedKernels, TwoContextsOfOneDeviceInTurn) {
    ASSERT_EQ(collect(program() + "context"), 21) << error;
    EXPECT_EQ(check_values(), 7u);
    // Each collective is told by its line, all of them by one diagnostic.
    EXPECT_EQ(uncounted("counters-collective"), 3u);
    EXPECT_EQ(told("counters-collective"), 1u);
}

TEST_F(CountedKernels, TwoDevices) {
    ASSERT_EQ(collect(program() + "device"), 21) << error;
    EXPECT_EQ(check_values(), 7u);
    std::set<int> devices;
    for (const json& kernel : kernels()) devices.insert(kernel["device"].get<int>());
    EXPECT_EQ(devices, (std::set<int>{0, 1}));
}

TEST_F(CountedKernels, ACollectiveAloneInItsProcessIsCounted) {
    ASSERT_EQ(collect(program() + "collective"), 21) << error;
    EXPECT_EQ(check_values(), 1u);
}

TEST_F(CountedKernels, GraphsAndCaptures) {
    ASSERT_EQ(collect(program() + "graphs"), 21) << error;
    // counters_program.cpp, graphs(): the chain twice (3 kernels), the diamond once (3), two plain launches,
    // and one beside each of the two captures. The six captured launches do not run.
    EXPECT_EQ(kernels().size(), 13u);
    EXPECT_EQ(check_values(), 8u);
    EXPECT_EQ(uncounted("counters-captured"), 2u);
    EXPECT_EQ(uncounted("counters-graph-order"), 3u);
    size_t nodes = 0;
    for (const json& kernel : kernels()) {
        EXPECT_EQ(kernel.contains("graph_node"),
                  kernel.contains("graph") && kernel.value("uncounted", "") != "counters-graph-order");
        nodes += kernel.contains("graph_node") ? 1 : 0;
    }
    EXPECT_EQ(nodes, 6u);
    EXPECT_EQ(told("counters-graph-order"), 1u);
    EXPECT_EQ(told("counters-captured"), 2u);
}

TEST_F(CountedKernels, AForkedChildIsNotRecorded) {
    ASSERT_EQ(collect(program() + "launch=2 fork"), 21) << error;
    EXPECT_EQ(check_values(), 3u);
}

TEST_F(CountedKernels, AKilledProgramLeavesWhatItCounted) {
    ASSERT_EQ(collect(program() + "launch=4 sleep=1500 kill"), 128 + 9) << error;
    EXPECT_TRUE(of_type(lines, "end").empty());
    EXPECT_EQ(check_values(), 4u);
}

TEST_F(CountedKernels, TheProgramsOwnProfilerGetsCupti) {
    ASSERT_EQ(collect(program() + "launch=3 subscribe launch=2"), 21) << error << output;
    EXPECT_EQ(check_values(), 3u) << "what was launched before";
    EXPECT_EQ(kernels().size(), 3u) << "what was launched after is not recorded";
    EXPECT_EQ(diagnostic("counters-yielded")["severity"], "data_loss");
}

TEST_F(CountedKernels, TheProgramsOwnProfilerGetsCuptiWhileOthersLaunch) {
    ASSERT_EQ(collect(program() + "launch=1 subscribe-while-threads=4"), 21) << error << output;
    EXPECT_EQ(told("counters-yielded"), 1u);
    EXPECT_EQ(told("counters-failed"), 0u);
    EXPECT_GT(kernels().size(), 0u);
    EXPECT_LT(kernels().size(), 8001u);
    EXPECT_GE(check_values(), 1u);
}

struct CountedTorch : CountedKernels {
    std::string python;
    void SetUp() override {
        CountedKernels::SetUp();
        const char* named = std::getenv("ATTNSCOPE_PYTHON");
        python = named != nullptr && *named != '\0' ? named : "python3";
        const std::string look =
            " -c 'import importlib.util as u, sys; sys.exit(u.find_spec(\"torch\") is None)'";
        if (!IsSkipped() && std::system((python + look).c_str()) != 0)
            GTEST_SKIP() << python << " has no torch";
    }
    std::string script(const std::string& text) const {
        std::ofstream(folder / "program.py") << text;
        return python + ' ' + (folder / "program.py").string();
    }
};

TEST_F(CountedTorch, EqualToTheActivityCollection) {
    const std::string work = script(R"(
import torch
from torch.nn.attention import sdpa_kernel, SDPBackend as B
q, k, v = [torch.randn(2, 8, 256, 64, device='cuda', dtype=torch.bfloat16, requires_grad=True) for _ in range(3)]
for backend in (B.FLASH_ATTENTION, B.EFFICIENT_ATTENTION, B.MATH):
    with sdpa_kernel(backend):
        torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
with torch.cuda.stream(stream):
    y = torch.zeros(1000, device='cuda')
    z = (y + 1) * 2
torch.cuda.current_stream().wait_stream(stream)
with torch.cuda.graph(graph):
    z = ((y + 1) * 2).sum()
graph.replay()
graph.replay()
raise SystemExit(21)
)");
    ASSERT_EQ(collect(work), 21) << error;
    const auto kernels = facts("kernel"), copies = facts("memcpy", false), sets = facts("memset");
    EXPECT_EQ(of_type(values, "end").at(0)["unjoined"], 0);
    for (const json& kernel : this->kernels()) EXPECT_FALSE(kernel.contains("uncounted")) << kernel;
    ASSERT_EQ(collect(work, "--counters none"), 21) << error;
    EXPECT_EQ(kernels, facts("kernel"));
    EXPECT_EQ(copies, facts("memcpy", false));
    EXPECT_EQ(sets, facts("memset"));
    EXPECT_GT(kernels.size(), 50u);
}

TEST_F(CountedTorch, ItsProfilerKeepsItsRecords) {
    ASSERT_EQ(collect(script("import torch\n"
                             "x = torch.zeros(1000, device='cuda') + 1\n"
                             "with torch.profiler.profile() as p:\n"
                             "    y = (x + 1) * 2\n"
                             "    torch.cuda.synchronize()\n"
                             "print('kernels', sum('elementwise_kernel' in e.name for e in p.events()))\n"),
                      "--counters core", "ATTNSCOPE_VGPU_TICKS=1"),
              0)
        << error;
    EXPECT_EQ(output, "kernels 2\n");
    EXPECT_EQ(kernels().size(), 2u) << "before the profiler came: zeros, and the addition";
    EXPECT_EQ(told("counters-yielded"), 1u);
}

}  // namespace
}  // namespace attnscope
