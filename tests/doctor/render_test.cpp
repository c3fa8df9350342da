// What is printed: escaped, one document, held by a schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../collector/schema_check.h"
#include "fake_machine.h"

namespace attnscope::doctor::test {
namespace {

using nlohmann::json;

json doctor_schema() {
    return json::parse(attnscope::test::read_file(std::string(std::getenv("ATTNSCOPE_SOURCE_DIR")) +
                                                  "/tests/doctor/doctor.schema.json"));
}

void expect_valid(const json& document) {
    const json schema = doctor_schema();
    EXPECT_EQ(attnscope::test::fault(schema, document, "diagnosis"), "");
    for (const json& finding : document["findings"])
        EXPECT_EQ(attnscope::test::fault(schema, finding, "finding"), "") << finding;
}

/// Everything that a machine can say, hostile.
void make_hostile(FakeMachine& m) {
    const std::string evil = "\x1b[2J\x1b]0;owned\x07\n\xff\xfe\xe2\x80\xae" + std::string(100000, 'A');
    make_h100(m);
    m.file("/proc/driver/nvidia/version", evil)
        .file("/proc/driver/nvidia/params", evil + "\nRmProfilingAdminOnly");
    m.file("/proc/self/status", "Uid:\nCapEff:\nCapAmb:" + evil).file("/proc/self/uid_map", evil);
    m.file("/proc/1/cgroup", evil).file("/proc/version", evil).file("/proc/77/comm", evil);
    m.without("/sys")
        .file("/sys/bus/pci/devices/\x1b[31m/vendor", "0x10de")
        .file("/dev/nvidia99999999999999999");
    for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD",
                             "ATTNSCOPE_CUPTI", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_HOME", "VIRTUAL_ENV"})
        m.variables[name] = "nvbit" + evil;
    m.driver_facts.gpu = unusable(evil, evil), m.driver_facts.gpu.names = {evil, evil};
    m.driver_facts.library = "libcuda.so." + evil + ".1";
    m.nvml_facts.driver = evil;
    m.nvml_facts.devices[0].name = evil + " CMP ";
    m.nvml_facts.devices[0].mig = true;
    m.cupti_found = {{evil, evil, {}}, {"/" + evil, "", 26}};
    m.installation_problem = m.not_virtual = evil;
}

TEST(Text, EscapesWhatTheMachineSays) {
    FakeMachine m;
    make_hostile(m);
    Request request;
    request.program = {"x"};
    const std::string text = render_text(diagnose(m, request));
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    EXPECT_LT(text.size(), 40000u) << "what a machine says is cut";
}

TEST(Json, EscapesWhatTheMachineSays) {
    FakeMachine m;
    make_hostile(m);
    const std::string text = render_json(diagnose(m, {}));
    EXPECT_TRUE(
        std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    expect_valid(json::parse(text));
}

TEST(Text, LinesFitAndCommandsStayWhole) {
    FakeMachine m;
    make_h100(m);
    m.file("/proc/self/status", kUserRights);
    const std::string text = render_text(diagnose(m, {}), 80);
    std::istringstream lines(text);
    std::string last;
    for (std::string line; std::getline(lines, line); last = line) {
        const std::string content = line.substr(std::min(line.find_first_not_of(' '), line.size()));
        EXPECT_TRUE(line.size() <= 80 || content.find(' ') == std::string::npos) << line;
        EXPECT_TRUE(line.empty() || line.back() != ' ') << '[' << line << ']';
    }
    EXPECT_EQ(text.rfind("FAIL", 0), 0u) << "the worst comes first\n" << text;
    EXPECT_EQ(last.find("not usable for counters (permission)"), 0u) << text;
    EXPECT_NE(text.find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos) << text;
}

TEST(Json, IsWhatTheSchemaSays) {
    for (const auto make : {make_laptop, make_h100}) {
        FakeMachine m;
        make(m);
        const Diagnosis d = diagnose(m, {});
        const json document = json::parse(render_json(d));
        expect_valid(document);
        EXPECT_EQ(document["usable"], d.usable_as_wanted());
        EXPECT_EQ(document["wanted"], make == make_h100 ? "counters" : "prediction");
        EXPECT_EQ(document["findings"].size(), d.findings.size());
        EXPECT_EQ(document["verdict"], d.verdict);
    }
}

TEST(Json, TheSchemaCanFail) {
    FakeMachine m;
    make_laptop(m);
    json document = json::parse(render_json(diagnose(m, {})));
    document["wanted"] = "wonders";
    EXPECT_NE(attnscope::test::fault(doctor_schema(), document, "diagnosis"), "");
    json finding = document["findings"][0];
    finding["state"] = "fine";
    EXPECT_NE(attnscope::test::fault(doctor_schema(), finding, "finding"), "");
}

}  // namespace
}  // namespace attnscope::doctor::test
