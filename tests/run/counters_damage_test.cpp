// Every way in which a file of counter values can be bad: what is whole is used, the rest is absent and said,
// and no launch ever gets another's value.
#include <gtest/gtest.h>

#include <algorithm>

#include "attnscope/error.h"
#include "attnscope/run.h"
#include "run_writer.h"

namespace attnscope {
namespace {

using test::CounterWriter;
using test::ProcessWriter;
using test::write_text;

struct Folder {
    Folder() {
        write_text(folder.path() / "run.json", test::counters_run_json());
        ProcessWriter w("real", test::kCountersCollection);
        for (int i = 0; i < 3; ++i) w.kernel({"k"}, 0);
        w.end();
        write_text(folder.path() / "p.jsonl", w.text());
    }
    Process read(std::string_view counters) {
        write_text(folder.path() / "p.counters.jsonl", counters);
        return read_run(folder.path()).processes.at(0);
    }
    test::TemporaryFolder folder;
};

const Diagnostic* find(const Process& p, std::string_view code) {
    for (const Diagnostic& d : p.diagnostics)
        if (d.code == code) return &d;
    return nullptr;
}

bool lost_something(const Process& p) {
    return std::any_of(p.diagnostics.begin(), p.diagnostics.end(),
                       [](const Diagnostic& d) { return d.level == DiagnosticLevel::data_loss; });
}

std::optional<double> value(const Process& p, size_t launch, size_t metric = 0) {
    const uint32_t set = p.launches.at(launch).counters;
    if (set == kNone) return std::nullopt;
    for (const CounterValue& v : p.counters.at(set))
        if (v.metric == metric) return v.value;
    return std::nullopt;
}

/// Launch n has n x 100 of the first metric and n x 1000 of the second.
std::string whole() {
    CounterWriter c;
    for (uint64_t n = 1; n <= 3; ++n) {
        c.launch(n, "first", 100.0 * double(n));
        c.launch(n, "second", 1000.0 * double(n));
    }
    c.end();
    return c.text();
}

TEST(CounterDamage, CutAtEveryByteGivesNoOthersValue) {
    Folder folder;
    const std::string text = whole();
    EXPECT_FALSE(lost_something(folder.read(text)));
    for (size_t length = 0; length + 1 < text.size(); ++length) {
        Process p;
        ASSERT_NO_THROW(p = folder.read(std::string_view(text).substr(0, length))) << length;
        EXPECT_TRUE(lost_something(p)) << "cut at byte " << length;
        for (size_t launch = 0; launch < 3; ++launch) {
            const auto first = value(p, launch, 0), second = value(p, launch, 1);
            EXPECT_TRUE(!first || first == 100.0 * double(launch + 1)) << length;
            EXPECT_TRUE(!second || second == 1000.0 * double(launch + 1)) << length;
        }
        for (const Diagnostic& d : p.diagnostics)
            EXPECT_FALSE(d.message.empty() || d.remedy.empty()) << d.code;
    }
    EXPECT_FALSE(lost_something(folder.read(std::string_view(text).substr(0, text.size() - 1))));
}

TEST(CounterDamage, EachWayByItself) {
    const std::string header =
        R"({"type":"counters","schema":"attnscope-counters","version":"1.0","process":"p.jsonl","ground":"real"}
{"type":"metric","id":1,"name":"first"}
)";
    const auto end = [](int n) {
        return R"({"type":"end","images":1,"counters":)" + std::to_string(n) + R"(,"unjoined":0})" + "\n";
    };
    struct Case {
        const char* what;
        std::string lines;
        int counters;
        const char* code;
        DiagnosticLevel level;
        std::optional<double> first_launch;
    };
    const std::string good = R"({"type":"counter","correlation":1,"metric":1,"value":5})"
                             "\n";
    constexpr auto loss = DiagnosticLevel::data_loss, warning = DiagnosticLevel::warning;
    const std::vector<Case> cases = {
        {"no such launch", good + R"({"type":"counter","correlation":99,"metric":1,"value":6})", 2,
         "counters-unjoined", loss, 5.0},
        {"a metric that was not introduced",
         good + R"({"type":"counter","correlation":2,"metric":9,"value":6})", 2, "unknown-id", loss, 5.0},
        {"neither launch nor range", good + R"({"type":"counter","metric":1,"value":6})", 2,
         "incomplete-record", loss, 5.0},
        {"launch and range", good + R"({"type":"counter","correlation":2,"range":1,"metric":1,"value":6})", 2,
         "counters-unjoined", loss, 5.0},
        {"neither value nor absent", good + R"({"type":"counter","correlation":2,"metric":1})", 2,
         "incomplete-record", loss, 5.0},
        {"the same again is no harm", good + good, 2, nullptr, warning, 5.0},
        {"another value for the same launch",
         good + R"({"type":"counter","correlation":1,"metric":1,"value":6})", 2, "duplicate-counter", warning,
         std::nullopt},
        {"a metric id twice",
         R"({"type":"metric","id":1,"name":"other"})"
         "\n" +
             good,
         1, "unknown-id", loss, std::nullopt},
        {"negative", R"({"type":"counter","correlation":1,"metric":1,"value":-1})", 1, "impossible-value",
         warning, std::nullopt},
        {"null", R"({"type":"counter","correlation":1,"metric":1,"value":null})", 1, "impossible-value",
         warning, std::nullopt},
        {"text", R"({"type":"counter","correlation":1,"metric":1,"value":"5"})", 1, "wrong-type", warning,
         std::nullopt},
        {"infinite", R"({"type":"counter","correlation":1,"metric":1,"value":1e999})", 1, "broken-line", loss,
         std::nullopt},
        {"not JSON", good + "{nonsense", 1, "broken-line", loss, 5.0},
        {"fewer than were written", good, 3, "count-mismatch", loss, 5.0},
    };
    for (const Case& c : cases) {
        Folder folder;
        const Process p =
            folder.read(header + c.lines + (c.lines.ends_with('\n') ? "" : "\n") + end(c.counters));
        EXPECT_EQ(value(p, 0), c.first_launch) << c.what;
        EXPECT_FALSE(value(p, 1)) << c.what;
        if (!c.code) {
            EXPECT_TRUE(p.diagnostics.empty()) << c.what << ": " << p.diagnostics[0].message;
            continue;
        }
        const Diagnostic* d = find(p, c.code);
        ASSERT_TRUE(d) << c.what;
        EXPECT_EQ(d->level, c.level) << c.what;
        EXPECT_NE(d->message.find("p.counters.jsonl"), std::string::npos) << d->message;
        EXPECT_NE(d->remedy.find("attnscope"), std::string::npos) << c.what << ": " << d->remedy;
    }
}

TEST(CounterDamage, WithoutItsHeadOrForAnotherProcessNothingIsUsed) {
    Folder folder;
    const std::string text = whole();
    const Process headless = folder.read(std::string_view(text).substr(text.find('\n') + 1));
    EXPECT_FALSE(value(headless, 0));
    EXPECT_TRUE(find(headless, "counters-undecodable"));
    std::string other = text;
    other.replace(other.find("p.jsonl"), 7, "q.jsonl");
    const Process foreign = folder.read(other);
    EXPECT_FALSE(value(foreign, 0));
    ASSERT_TRUE(find(foreign, "counters-unjoined"));
    EXPECT_NE(find(foreign, "counters-unjoined")->message.find("q.jsonl"), std::string::npos);
}

TEST(CounterDamage, ANewerMajorVersionIsRefused) {
    Folder folder;
    std::string text = whole();
    text.replace(text.find("\"1.0\""), 5, "\"2.0\"");
    EXPECT_THROW(folder.read(text), Error);
}

TEST(CounterDamage, TwoLaunchesOfOneCorrelationGetNothing) {
    Folder folder;
    ProcessWriter w("real", test::kCountersCollection);
    w.line(R"({"type":"kernel","correlation":1})");
    w.line(R"({"type":"kernel","correlation":1})");
    w.line(R"({"type":"end","kernels":2})");
    write_text(folder.folder.path() / "p.jsonl", w.text());
    CounterWriter c;
    c.launch(1, "first", 5);
    c.end();
    const Process p = folder.read(c.text());
    EXPECT_FALSE(value(p, 0));
    EXPECT_FALSE(value(p, 1));
    EXPECT_TRUE(find(p, "counters-unjoined"));
}

}  // namespace
}  // namespace attnscope
