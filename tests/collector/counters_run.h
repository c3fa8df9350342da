#pragma once
// Runs counters_program under `attnscope collect --counters` over the strict stand-in, and reads what it
// left.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>

#include "attnscope/counter_files.h"
#include "lines.h"
#include "schema_check.h"

namespace attnscope::test {

using nlohmann::json;
namespace fs = std::filesystem;

inline constexpr const char* kDram = "dram__bytes_read.sum";

/// Values that tell the kernels apart; made up.
inline constexpr const char* kFixture = R"({"attnscope_fixture": 1, "note": "made up for a test", "kernels": [
 {"match": "^first_kernel$", "metrics": {"dram__bytes_read.sum": 1000}},
 {"match": "^second_kernel$", "metrics": {"dram__bytes_read.sum": 2000}},
 {"match": "^third_kernel$", "metrics": {"dram__bytes_read.sum": 3000}},
 {"match": "nccl", "metrics": {"dram__bytes_read.sum": 4000}}],
 "ranges": [{"match": "attnscope.iteration", "metrics": {"dram__bytes_read.sum": 9000}},
 {"match": "outer", "metrics": {"dram__bytes_read.sum": 9500}},
 {"match": "attnscope.implementation", "metrics": {"dram__bytes_read.sum": 9900}}]})";

inline double value_of_kernel(const std::string& name) {
    if (name == "first_kernel") return 1000;
    if (name == "second_kernel") return 2000;
    if (name == "third_kernel") return 3000;
    return 4000;
}

/// One record of a `.data` file whose checksums were right.
struct DataRecord {
    DataHeader header;
    std::string payload;
};

/// Stops at the first record that is cut or damaged, which `whole` then says.
inline std::vector<DataRecord> read_data(const fs::path& file, bool& whole) {
    const std::string bytes = read_file(file);
    std::vector<DataRecord> records;
    whole = bytes.compare(0, sizeof kDataMagic, kDataMagic, sizeof kDataMagic) == 0;
    size_t at = sizeof kDataMagic;
    while (whole && at < bytes.size()) {
        DataRecord record{};
        whole = bytes.size() - at >= sizeof record.header;
        if (!whole) break;
        std::memcpy(&record.header, bytes.data() + at, sizeof record.header);
        DataHeader summed = record.header;
        summed.header_crc32 = 0;
        at += sizeof record.header;
        const size_t padded = (record.header.bytes + 7) / 8 * 8;
        whole = record.header.record_magic == kRecordMagic &&
                crc32(&summed, sizeof summed) == record.header.header_crc32 && bytes.size() - at >= padded;
        if (!whole) break;
        record.payload = bytes.substr(at, record.header.bytes);
        whole = crc32(record.payload.data(), record.payload.size()) == record.header.payload_crc32;
        at += padded;
        if (whole) records.push_back(std::move(record));
    }
    return records;
}

struct CountersRun : testing::Test {
    fs::path folder;
    std::string output, error;
    std::vector<json> lines, values;  ///< of the process; of its counters file
    std::map<uint64_t, std::string> names;

    static std::string build() { return std::getenv("ATTNSCOPE_BINARY_DIR"); }
    static std::string program() { return build() + "/tests/collector/attnscope_counters_program "; }

    void SetUp() override {
        if (!fs::exists(build() + "/lib/attnscope/virtual_gpu/libcupti.so.13"))
            GTEST_SKIP() << "the virtual GPU's libcupti is not built";
        std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        for (char& c : name)
            if (c == '/') c = '-';
        folder = fs::temp_directory_path() / ("attnscope-counters-" + std::to_string(getpid()) + '-' + name);
        fs::remove_all(folder);
        fs::create_directories(folder);
        std::ofstream(folder / "fixture.json") << kFixture;
    }
    void TearDown() override {
        if (!folder.empty() && !HasFailure()) fs::remove_all(folder);
    }

    /// The exit code of `command` under the launcher. `variables` are set for both.
    int collect(const std::string& command, const std::string& options = "--counters core",
                const std::string& variables = "", bool fixture = true) {
        fs::remove_all(run());
        const std::string line =
            "ATTNSCOPE_VGPU_STRICT=1 " +
            (fixture ? "ATTNSCOPE_VGPU_COUNTERS=" + (folder / "fixture.json").string() + ' '
                     : std::string()) +
            variables + ' ' + build() + "/bin/attnscope collect --device virtual:H100-SXM5x2 " + options +
            " -o " + run().string() + " -- " + command + " >" + (folder / "stdout").string() + " 2>" +
            (folder / "stderr").string();
        const int status = std::system(line.c_str());
        output = read_file(folder / "stdout");
        error = read_file(folder / "stderr");
        read();
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    fs::path run() const { return folder / "run"; }
    fs::path data_file() const {
        for (const auto& entry : fs::directory_iterator(run() / "counters"))
            if (entry.path().extension() == ".data") return entry.path();
        return {};
    }

    void read() {
        lines.clear();
        values.clear();
        names.clear();
        const json all = schema();
        for (const fs::path& file : process_files(run())) {
            const bool of_counters = file.string().find(".counters.jsonl") != std::string::npos;
            if (file.filename() == "clocks.jsonl") continue;
            auto& into = of_counters ? values : lines;
            for (json& line : parse_lines(read_file(file))) {
                if (!of_counters) {
                    EXPECT_EQ(fault(all, line), "") << line;
                }
                into.push_back(std::move(line));
            }
        }
        for (const json& line : of_type(lines, "name")) names[line["id"]] = line["name"];
    }

    std::vector<json> kernels() const { return of_type(lines, "kernel"); }
    std::string name_of(const json& kernel) const {
        const auto known = names.find(kernel.value("name", uint64_t{0}));
        return known == names.end() ? "" : known->second;
    }
    /// The diagnostic's count over all its lines; 0 when it was not told.
    uint64_t told(const std::string& code) const {
        uint64_t count = 0;
        for (const json& line : of_type(lines, "diagnostic"))
            if (line["code"] == code) count += line["count"].get<uint64_t>();
        return count;
    }
    json diagnostic(const std::string& code) const {
        for (const json& line : of_type(lines, "diagnostic"))
            if (line["code"] == code) return line;
        ADD_FAILURE() << "no diagnostic " << code;
        return {{"severity", ""}, {"message", ""}, {"remedy", ""}};
    }
    /// The DRAM bytes that the launcher evaluated for a launch, a graph's kernel or a range.
    std::optional<double> value(const char* what, uint64_t id, uint64_t node = 0) const {
        uint64_t metric = 0;
        for (const json& line : of_type(values, "metric"))
            if (line["name"] == kDram) metric = line["id"];
        std::optional<double> found;
        for (const json& line : of_type(values, "counter")) {
            if (!line.contains(what) || line[what] != id || line["metric"] != metric ||
                line.value("graph_node", uint64_t{0}) != node || !line.contains("value"))
                continue;
            EXPECT_FALSE(found.has_value()) << "two values: " << line;
            found = line["value"].get<double>();
        }
        return found;
    }
    /// Each kernel has its own value, or says why it has none and has none. How many have one.
    size_t check_values() const {
        size_t counted = 0;
        for (const json& kernel : kernels()) {
            const auto found =
                value("correlation", kernel["correlation"], kernel.value("graph_node", uint64_t{0}));
            EXPECT_EQ(found.has_value(), !kernel.contains("uncounted")) << kernel;
            if (!found.has_value()) continue;
            EXPECT_EQ(*found, value_of_kernel(name_of(kernel))) << kernel;
            ++counted;
        }
        return counted;
    }
    size_t uncounted(const std::string& code) const {
        size_t n = 0;
        for (const json& kernel : kernels()) n += kernel.value("uncounted", "") == code ? 1 : 0;
        return n;
    }
};

}  // namespace attnscope::test
