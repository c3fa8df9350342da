// Other people's CUPTI clients on the virtual GPU, unmodified: what each of them sees of a program is what
// attnscope's own run of the same program without the client holds. (PyTorch's profiler: end_to_end,
// profiler_test.)
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/end_to_end/harness.h"

namespace attnscope::test {
namespace {

using nlohmann::json;
using Environment = std::map<std::string, std::string>;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::string program(const std::string& name) {
    return variable("ATTNSCOPE_SOURCE_DIR") + "/tests/clients/programs/" + name;
}

constexpr const char* kHopper = "H100-SXM5";
constexpr const char* kAmpere = "A100-SXM4-80GB";  // activity_client's kernel is for sm_80

Environment on_virtual_gpu(const std::string& device) {
    return {{"LD_PRELOAD", variable("ATTNSCOPE_STANDINS")},
            {"LD_LIBRARY_PATH", variable("ATTNSCOPE_BINARY_DIR") + "/lib/attnscope/virtual_gpu"},
            {"ATTNSCOPE_VIRTUAL_DEVICES", device}};
}

/// One launch as a line of text: what a client and a run must agree in.
std::string line_of(const std::string& kind, const std::string& name, const std::vector<int64_t>& figures) {
    std::string line = kind + ' ' + name;
    for (const int64_t figure : figures) line += ' ' + std::to_string(figure);
    return line;
}

struct Kernel {
    std::string name;
    std::vector<int64_t> grid, block;
    int64_t dynamic_shared = 0;
    std::vector<int64_t> resources;  ///< registers, static shared, local: known to activity records alone

    std::string line() const {
        std::vector<int64_t> figures = grid;
        figures.insert(figures.end(), block.begin(), block.end());
        figures.push_back(dynamic_shared);
        figures.insert(figures.end(), resources.begin(), resources.end());
        return line_of("kernel", name, figures);
    }
};

struct Shown {
    bool resources = true, copies = true;
};

/// The run's launches inside its process range `range` (all of them without a name), in the order of issue.
std::vector<std::string> lines_of(const Run& run, const std::string& range, Shown shown = {}) {
    std::vector<std::string> lines;
    for (const Process& process : run.processes) {
        const auto inside = [&](const Launch& launch) {
            for (uint32_t start : {launch.range, launch.process_range})
                for (uint32_t r = start; r != kNone; r = process.ranges[r].parent)
                    if (process.ranges[r].name == range) return true;
            return range.empty();
        };
        for (const Launch& l : process.launches) {
            if (!inside(l)) continue;
            if (l.kind == LaunchKind::kernel) {
                Kernel kernel{process.names.at(l.name),
                              {l.grid.begin(), l.grid.end()},
                              {l.block.begin(), l.block.end()},
                              l.dynamic_shared.value_or(0),
                              {}};
                if (shown.resources)
                    kernel.resources = {l.registers.value_or(0), l.static_shared.value_or(0),
                                        l.local_per_thread.value_or(0)};
                lines.push_back(kernel.line());
            } else if (shown.copies && l.kind == LaunchKind::memcpy) {
                lines.push_back(line_of("memcpy", process.copy_kinds.at(l.copy_kind),
                                        {static_cast<int64_t>(l.bytes.value_or(0))}));
            } else if (shown.copies && l.kind == LaunchKind::memset) {
                lines.push_back(line_of("memset", "", {static_cast<int64_t>(l.bytes.value_or(0))}));
            }
        }
    }
    return lines;
}

/// The same lines out of a client's records.
std::vector<std::string> lines_of(std::vector<json> records, Shown shown = {}) {
    std::stable_sort(records.begin(), records.end(), [](const json& a, const json& b) {
        return a.value("correlation", int64_t{0}) < b.value("correlation", int64_t{0});
    });
    // CUpti_ActivityMemcpyKind
    const std::map<int, std::string> copies = {{1, "HtoD"}, {2, "DtoH"}};
    std::vector<std::string> lines;
    for (const json& r : records) {
        const std::string kind = r.value("kind", "");
        if (kind == "kernel") {
            Kernel kernel{r.at("name"), r.at("grid"), r.at("block"), r.at("dynamic_shared"), {}};
            if (shown.resources)
                kernel.resources = {r.at("registers"), r.at("static_shared"), r.at("local_per_thread")};
            lines.push_back(kernel.line());
        } else if (shown.copies && kind == "memcpy") {
            lines.push_back(line_of(kind, copies.at(r.at("copy_kind")), {r.at("bytes")}));
        } else if (shown.copies && kind == "memset") {
            lines.push_back(line_of(kind, "", {r.at("bytes")}));
        }
    }
    return lines;
}

std::vector<json> parse_lines(const std::string& text) {
    std::vector<json> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
    return all;
}

size_t count(const std::vector<json>& records, const std::string& key, const std::string& value) {
    return static_cast<size_t>(std::count_if(records.begin(), records.end(),
                                             [&](const json& r) { return r.value(key, "") == value; }));
}

Run own_run(const Scratch& scratch, const std::string& device, const std::vector<std::string>& command) {
    std::vector<std::string> arguments = {
        "collect", "--counters", "none", "--device", "virtual:" + device, "-o", scratch.path("own"), "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Outcome outcome = attnscope(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return read_run(scratch.path("own"));
}

void expect_same(const std::vector<std::string>& theirs, const std::vector<std::string>& ours) {
    ASSERT_EQ(theirs.size(), ours.size());
    for (size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(theirs[i], ours[i]) << "launch " << i;
}

std::string activity_client() {
    return variable("ATTNSCOPE_BINARY_DIR") + "/tests/clients/activity_client";
}

TEST(ActivityClient, RecordsAreThoseOfOurRun) {
    const Scratch scratch;
    const std::vector<std::string> ours =
        lines_of(own_run(scratch, kAmpere, {activity_client(), "plain"}), "");
    const Outcome outcome = run_program({activity_client(), "activity"}, on_virtual_gpu(kAmpere));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<json> records = parse_lines(outcome.out);
    // The program: 200 launches, a graph of three kernels twice, two copies and a memset.
    EXPECT_EQ(ours.size(), 200u + 6u + 2u + 1u);
    expect_same(lines_of(records), ours);
    // Three captured launches are calls too, but no kernels of their own.
    EXPECT_EQ(count(records, "name", "cudaLaunchKernel_v7000"), 203u);
    EXPECT_EQ(count(records, "name", "cudaGraphLaunch_v10000"), 2u);
    EXPECT_GT(records.back().at("buffers"), 3);
    EXPECT_EQ(records.back().at("dropped"), 0);
}

TEST(ActivityClient, CallbacksSeeTheLaunchesOfOurRun) {
    const Scratch scratch;
    const Shown shown{.resources = false, .copies = false};
    std::vector<std::string> ours =
        lines_of(own_run(scratch, kAmpere, {activity_client(), "plain"}), "", shown);
    ours.resize(200);  // the graph's kernels have no launch call of their own
    const Outcome outcome = run_program({activity_client(), "callbacks"}, on_virtual_gpu(kAmpere));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<json> records = parse_lines(outcome.out);
    std::vector<std::string> theirs = lines_of(records, shown);
    ASSERT_EQ(theirs.size(), 203u);
    theirs.resize(200);
    expect_same(theirs, ours);
    for (const json& record : records) EXPECT_TRUE(record.at("kind") == "end" || record.at("handed_through"));
    const json& end = records.back();
    EXPECT_EQ(end.at("contexts"), 1);
    EXPECT_GE(end.at("streams"), 2);
    EXPECT_GE(end.at("synchronisations"), 1);
    EXPECT_EQ(end.at("after"), 0) << "callbacks came after cuptiUnsubscribe";
    EXPECT_EQ(end.at("second"), 39) << "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    EXPECT_EQ(end.at("zero"), 0) << "Proton enables callback 0";
    EXPECT_EQ(end.at("holder"), "CUPTI for activity_client");  // cupti_callbacks.h: the prefix is CUPTI's
}

TEST(ActivityClient, StrictlyCallbackZeroIsRefused) {
    Environment strict = on_virtual_gpu(kAmpere);
    strict["ATTNSCOPE_VGPU_STRICT"] = "1";
    const Outcome outcome = run_program({activity_client(), "callbacks"}, strict);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(parse_lines(outcome.out).back().at("zero"), 1) << "CUPTI_ERROR_INVALID_PARAMETER";
}

struct PythonClient : testing::Test {
    Scratch scratch;
    Environment environment = on_virtual_gpu(kHopper);

    void need(const std::string& module, const std::string& path) {
        if (python().empty()) GTEST_SKIP() << "no Python with torch: set ATTNSCOPE_PYTHON at configuration";
        environment["PYTHONPATH"] = path;
        const std::string find =
            "import importlib.util as u, sys; sys.exit(u.find_spec('" + module + "') is None)";
        if (run_program({python(), "-c", find}, environment).exit_code != 0)
            GTEST_SKIP() << python() << " has no module " << module;
    }
    attnscope::Run own() { return own_run(scratch, kHopper, {python(), program("workload.py")}); }
    std::vector<json> records(const std::string& file) const {
        return json::parse(std::ifstream(scratch.path(file))).at("records");
    }
};

TEST_F(PythonClient, CuptiPythonsRecordsAreThoseOfOurRun) {
    need("cupti", "");
    if (IsSkipped()) return;
    const Outcome outcome = run_program(
        {python(), program("cupti_python.py"), "activity", scratch.path("seen.json")}, environment);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::vector<std::string> ours = lines_of(own(), "counted");
    ASSERT_GT(ours.size(), 40u);
    const std::vector<json> seen = records("seen.json");
    expect_same(lines_of(seen), ours);
    // CUDA 13's <<<>>> is __cudaLaunchKernel_v13000.
    const auto launches = std::count_if(seen.begin(), seen.end(), [](const json& r) {
        return r.at("kind") == "call" &&
               r.at("name").get<std::string>().find("LaunchKernel") != std::string::npos;
    });
    EXPECT_EQ(static_cast<size_t>(launches), count(seen, "kind", "kernel"));
}

TEST_F(PythonClient, CuptiPythonsCallbacksSeeTheLaunchesOfOurRun) {
    need("cupti", "");
    if (IsSkipped()) return;
    const Outcome outcome = run_program(
        {python(), program("cupti_python.py"), "callbacks", scratch.path("seen.json")}, environment);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> theirs, ours;
    for (const json& record : records("seen.json"))
        if (!record.at("symbol").get<std::string>().empty()) theirs.push_back(record.at("symbol"));
    const attnscope::Run run = own();
    for (const std::string& line : lines_of(run, "counted", {.resources = false, .copies = false}))
        ours.push_back(line.substr(7, line.find(' ', 7) - 7));
    expect_same(theirs, ours);
}

TEST_F(PythonClient, CuptiPythonKeepsItsRecordsUnderOurCollector) {
    need("cupti", "");
    if (IsSkipped()) return;
    const Outcome outcome =
        attnscope({"collect", "--counters", "none", "--device", std::string("virtual:") + kHopper, "-o",
                   scratch.path("both"), "--", python(), program("cupti_python.py"), "activity",
                   scratch.path("seen.json")});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_same(lines_of(records("seen.json")), lines_of(own(), "counted"));
    bool said = false;
    for (const Process& process : read_run(scratch.path("both")).processes)
        for (const Diagnostic& diagnostic : process.diagnostics)
            said |= diagnostic.code == "records-taken-over";
    EXPECT_TRUE(said);
}

/// A tree of frames; the leaves are kernels by name, with a count.
void add_kernels(const json& node, std::map<std::string, int64_t>& counts) {
    const int64_t launches = node.value("/metrics/count"_json_pointer, int64_t{0});
    if (launches != 0) counts[node.at("frame").at("name")] += launches;
    for (const json& child : node.value("children", json::array())) add_kernels(child, counts);
}

struct Proton : PythonClient {
    std::map<std::string, int64_t> seen;

    void SetUp() override {
        need("triton.profiler", variable("ATTNSCOPE_TRITON"));
        if (IsSkipped()) return;
        // Proton opens `libcupti.so` in a folder of its own choice: Triton's wheel brings CUPTI 12.8.
        std::filesystem::create_directory(scratch.path("cupti"));
        std::filesystem::create_symlink(environment.at("LD_LIBRARY_PATH") + "/libcupti.so.13",
                                        scratch.path("cupti/libcupti.so"));
        environment["TRITON_CUPTI_LIB_PATH"] = scratch.path("cupti");
        environment["ATTNSCOPE_VGPU_TICKS"] = "1";  // without times Proton 3.6 ends by a null pointer
    }
};

TEST_F(Proton, KernelsAreThoseOfOurRun) {
    const Outcome outcome =
        run_program({python(), program("proton_client.py"), scratch.path("seen")}, environment);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const json& node : json::parse(std::ifstream(scratch.path("seen.hatchet")))) add_kernels(node, seen);
    std::map<std::string, int64_t> ours;
    for (const std::string& line : lines_of(own(), "counted", {.resources = false, .copies = false}))
        ++ours[line.substr(7, line.find(' ', 7) - 7)];
    EXPECT_GT(ours.size(), 10u);
    EXPECT_EQ(seen, ours);
}

/// What keeps Proton from running where only what is documented is answered: it enables callback 0.
TEST_F(Proton, StrictlyItIsRefused) {
    environment["ATTNSCOPE_VGPU_STRICT"] = "1";
    const Outcome outcome =
        run_program({python(), program("proton_client.py"), scratch.path("seen")}, environment);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find("Failed to execute cuptiEnableCallback with error 1"), std::string::npos)
        << outcome.err;
}

}  // namespace
}  // namespace attnscope::test
