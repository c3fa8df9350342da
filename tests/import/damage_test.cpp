// Damaged traces: what can be kept is kept, with place and amount; nothing crashes, hangs or grows.
#include <gtest/gtest.h>

#include <random>

#include "attnscope/error.h"
#include "attnscope/import.h"
#include "samples.h"
#include "trace.h"

namespace attnscope::test {
namespace {

size_t launches(const attnscope::Run& run) {
    size_t n = 0;
    for (const Process& p : run.processes) n += p.launches.size();
    return n;
}

std::string three_kernels() {
    return trace({flash_kernel(1), event("cpu_op", "aten::add", "1", "2", R"("External id": 1)", "1", "9"),
                  flash_kernel(2), flash_kernel(3)});
}

TEST(DamagedTrace, CutAnywhereItLoadsOrIsRefused) {
    const std::string whole = three_kernels();
    size_t before = 0, refused = 0;
    for (size_t length = 0; length + 2 < whole.size(); ++length) {
        SCOPED_TRACE(length);
        try {
            const attnscope::Run run = import_bytes(whole.substr(0, length));
            EXPECT_GE(launches(run), before) << "what was there in a shorter file is there in a longer one";
            before = launches(run);
            const Diagnostic* cut = diagnostic(run, "import-cut-short");
            ASSERT_TRUE(cut);
            EXPECT_EQ(cut->level, DiagnosticLevel::data_loss);
        } catch (const Error& e) {
            EXPECT_EQ(e.exit(), Exit::bad_input);
            EXPECT_EQ(before, 0U);
            ++refused;
        }
    }
    EXPECT_EQ(before, 3U);
    EXPECT_GT(refused, 0U);
}

TEST(DamagedTrace, WhatFollowsDamageIsKept) {
    const std::string damage[] = {
        R"({"ph": "X", "cat": "kernel", "name": broken"here", "ts": 1})",
        R"({"ph": "X" "cat" "kernel"})",
        R"({"ph": "X", "name": "a path C:\", "cat": "kernel", "ts": 5, "dur": 1})",
        R"({ph: 'X'})",
        "42 garbage \xff\xfe",
    };
    for (const std::string& bad : damage) {
        SCOPED_TRACE(bad);
        const attnscope::Run run =
            import_bytes(trace({flash_kernel(1), bad, flash_kernel(2), flash_kernel(3)}));
        EXPECT_GE(launches(run), 2U) << "the damaged event, and at most the one behind it";
        const Diagnostic* damaged = diagnostic(run, "import-damaged");
        ASSERT_TRUE(damaged);
        EXPECT_EQ(damaged->level, DiagnosticLevel::data_loss);
        EXPECT_NE(damaged->message.find("first at byte "), std::string::npos) << damaged->message;
    }
}

TEST(DamagedTrace, BareNanAndInfAreNoNumbers) {
    for (const char* token : {"NaN", "Infinity", "-Infinity", "inf", "nan", "-nan(ind)"}) {
        SCOPED_TRACE(token);
        const attnscope::Run run = import_bytes(trace(
            {event("kernel", "k", token, "1", R"("correlation": 1)"),
             event("kernel", "k", "5", token, std::string(R"("correlation": 2, "blocks per SM": )") + token),
             flash_kernel(3)}));
        ASSERT_EQ(launches(run), 3U);
        EXPECT_FALSE(run.processes[0].launches[0].start_ns);
        EXPECT_FALSE(run.processes[0].launches[1].start_ns);
        EXPECT_TRUE(run.processes[0].launches[2].start_ns);
        const Diagnostic* told = diagnostic(run, "import-no-number");
        ASSERT_TRUE(told);
        EXPECT_EQ(told->count, 2U);
    }
}

TEST(DamagedTrace, NegativeDurationsHaveNoTime) {
    const attnscope::Run run =
        import_bytes(trace({event("kernel", "k", "5", "-1", R"("correlation": 1)"), flash_kernel(2)}));
    EXPECT_FALSE(run.processes.at(0).launches.at(0).end_ns);
    EXPECT_EQ(diagnostic(run, "import-negative-duration")->count, 1U);
}

TEST(DamagedTrace, UnescapedBackslashesStay) {
    const attnscope::Run run = import_bytes(
        trace({event("kernel", R"(C:\Users\new\kernel.cu \u00e4)", "5", "1", R"("correlation": 1)")}));
    EXPECT_EQ(run.processes.at(0).names.at(0), "C:\\Users\new\\kernel.cu \xc3\xa4")
        << "\\n is what JSON says it is: only what it does not know stays";
    EXPECT_TRUE(diagnostic(run, "import-backslashes"));
}

TEST(DamagedTrace, BrokenUtf8IsReplaced) {
    const attnscope::Run run =
        import_bytes(trace({event("kernel", "a\xc3(b\xff", "5", "1", R"("correlation": 1)")}));
    EXPECT_EQ(run.processes.at(0).names.at(0), "a\xEF\xBF\xBD(b\xEF\xBF\xBD");
    EXPECT_TRUE(diagnostic(run, "import-broken-utf8"));
}

TEST(DamagedTrace, KernelsWithNothingButAName) {
    const attnscope::Run run = import_bytes(
        trace({R"({"ph": "X", "cat": "kernel", "name": "alone"})", R"({"ph": "X", "cat": "kernel"})"}, ""));
    ASSERT_EQ(launches(run), 2U);
    EXPECT_EQ(run.processes[0].names.at(0), "alone");
    EXPECT_TRUE(diagnostic(run, "import-nameless"));
    EXPECT_TRUE(diagnostic(run, "import-no-correlation"));
}

TEST(DamagedTrace, DepthAndSizeCostNoStack) {
    const std::string deep(2000000, '[');
    const std::string closed = deep + std::string(deep.size(), ']');
    const attnscope::Run run = import_bytes(trace(
        {flash_kernel(1), R"({"ph": "X", "cat": "kernel", "name": "k", "args": {"deep": )" + closed + "}}",
         flash_kernel(2)}));
    EXPECT_EQ(launches(run), 3U);
    const attnscope::Run open = import_bytes(
        trace({flash_kernel(1), R"({"ph": "X", "args": {"deep": )" + deep + "}}", flash_kernel(2)}));
    EXPECT_EQ(launches(open), 2U);
    EXPECT_TRUE(diagnostic(open, "import-damaged"));
    const std::string long_name(5000000, 'n');
    const attnscope::Run named =
        import_bytes(trace({event("kernel", long_name, "5", "1", R"("correlation": 1)")}));
    EXPECT_EQ(named.processes.at(0).names.at(0).size(), size_t{1} << 16) << "cut";
}

TEST(DamagedTrace, BrokenUtf8InOperationsAndInputs) {
    const attnscope::Run run = import_bytes(
        trace({event("cpu_op", "aten::a\xff", "1", "9",
                     "\"Concrete Inputs\": [\"\xc3(\"], \"Input type\": [\"Scalar\"]", "1", "9"),
               event("cuda_runtime", "cudaLaunchKernel", "2", "1", R"("correlation": 1)", "1", "9"),
               flash_kernel(1)}));
    const Process& p = run.processes.at(0);
    const Operation& operation = p.operations.at(p.launches.at(0).operation);
    EXPECT_EQ(operation.name, "aten::a\xEF\xBF\xBD");
    EXPECT_EQ(operation.inputs.at(0), "\xEF\xBF\xBD(");
    EXPECT_TRUE(diagnostic(run, "import-broken-utf8"));
}

TEST(DamagedTrace, ManyOfWhatIsFewTakeNoLongerThanTheyAreLong) {
    std::string counters, devices;
    std::vector<std::string> events;
    for (int i = 0; i < 50000; ++i) {
        const std::string n = std::to_string(i);
        counters += (i ? ", \"m__" : "\"m__") + n + "\": 1";
        devices += (i ? ", {\"id\": " : "{\"id\": ") + n + "}";
        std::string kernel = flash_kernel(1);
        kernel.replace(kernel.find("\"device\": 0"), 11, "\"device\": " + n);
        events.push_back(kernel);
    }
    events.push_back(event("cuda_profiler_range", "r", "1", "1", counters));
    events.push_back(
        event("cpu_op", "aten::cat", "1", "2", "\"Input type\": [" + std::string(200000, '[') + "]"));
    const attnscope::Run run = import_bytes(trace(events, devices));
    const Process& p = run.processes.at(0);
    EXPECT_EQ(p.launches.size(), 50000U);
    EXPECT_EQ(p.devices.size(), 256U) << "no machine has more";
    EXPECT_EQ(diagnostic(run, "import-device-not-listed")->count, 50000U - 256U);
    EXPECT_GT(p.counters.at(p.ranges.at(0).counters).size(), 1000U);
}

TEST(DamagedTrace, RandomDamageNeverCrashes) {
    const std::string whole = three_kernels();
    std::mt19937_64 random(20261201);
    size_t loaded = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string text = whole;
        for (uint64_t edits = random() % 6 + 1; edits > 0; --edits) {
            const size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 40);
                    break;
                case 2:
                    text.insert(at, text.substr(random() % text.size(), random() % 60));
                    break;
                default:
                    text[at] = "{}[],:\"\\0-9"[random() % 11];
            }
            if (text.empty()) text = " ";
        }
        try {
            const attnscope::Run run = import_bytes(text);
            EXPECT_LE(launches(run), 8U);
            ++loaded;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(loaded, 1000U) << "most damage is survived";
}

}  // namespace
}  // namespace attnscope::test
