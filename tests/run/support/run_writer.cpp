#include "run_writer.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace attnscope::test {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "attnscope-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            out += escape;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

void write_text(const fs::path& file, std::string_view bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out) throw std::runtime_error("cannot write " + file.string());
}

std::string read_text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

ProcessWriter::ProcessWriter(std::string ground, std::string extra) {
    line(
        R"({"type":"process","schema":"attnscope-run","version":"1.0","attnscope":"0.1.0","ground":")" +
        ground +
        R"(","host":"test","pid":4242,"ppid":1,"start_unix_ns":1764500000000000000,"executable":"/bin/attention_workload",)"
        R"("command":["attention_workload"],"cuda_driver":13000,"cuda_runtime":13000,"cupti":26)" +
        extra + "}");
}

// Figures: NVIDIA A100 Tensor Core GPU Architecture whitepaper and the device properties of public A100
// traces.
void ProcessWriter::a100(int ordinal) {
    line(
        R"({"type":"device","device":)" + std::to_string(ordinal) +
        R"(,"id":"A100-SXM4-80GB","name":"NVIDIA A100-SXM4-80GB","chip":"GA100","ground":"virtual","compute_major":8,)"
        R"("compute_minor":0,"sm_count":108,"warp_size":32,"max_threads_per_sm":2048,"max_ctas_per_sm":32,)"
        R"("max_threads_per_cta":1024,"registers_per_sm":65536,"registers_per_cta":65536,"shared_per_sm":167936,)"
        R"("shared_per_cta":49152,"shared_per_cta_optin":166912,"shared_reserved_per_cta":1024,"l2_bytes":41943040,)"
        R"("memory_bytes":85899345920})");
}

uint64_t ProcessWriter::open(const std::string& name, uint64_t parent, const char* kind) {
    line(R"({"type":"range","id":)" + std::to_string(++range_) +
         (parent ? R"(,"parent":)" + std::to_string(parent) : "") + R"(,"kind":")" + kind +
         R"(","thread":7,"name":)" + quote(name) + R"(,"start_ns":)" + std::to_string(clock_++) + "}");
    return range_;
}

void ProcessWriter::close(uint64_t range) {
    line(R"({"type":"range_end","id":)" + std::to_string(range) + R"(,"end_ns":)" + std::to_string(clock_++) +
         "}");
}

void ProcessWriter::mark(const std::string& text) {
    line(R"({"type":"mark","name":)" + quote(text) + R"(,"thread":7,"time_ns":)" + std::to_string(clock_++) +
         "}");
}

std::string ProcessWriter::times(uint64_t duration_ns) {
    if (duration_ns == 0) return {};
    const uint64_t start = clock_;
    clock_ += duration_ns + 500;
    return R"(,"start_ns":)" + std::to_string(start) + R"(,"end_ns":)" + std::to_string(start + duration_ns);
}

uint64_t ProcessWriter::operation(const std::string& name, uint64_t parent,
                                  const std::vector<std::string>& inputs, const std::string& more) {
    std::string list;
    for (const std::string& input : inputs) list += (list.empty() ? "" : ",") + quote(input);
    line(R"({"type":"operation","id":)" + std::to_string(++operations_) +
         (parent ? R"(,"parent":)" + std::to_string(parent) : "") + R"(,"name":)" + quote(name) + more +
         R"(,"inputs":[)" + list + "]}");
    return operations_;
}

std::string ProcessWriter::origin() const {
    if (operation_ == 0) return {};
    return R"(,"op":)" + std::to_string(operation_) + R"(,"op_call":)" + std::to_string(operation_call_);
}

void ProcessWriter::kernel(const KernelSpec& k, uint64_t range, uint64_t duration_ns) {
    const auto [it, fresh] = names_.emplace(k.mangled, names_.size() + 1);
    if (fresh)
        line(R"({"type":"name","id":)" + std::to_string(it->second) + R"(,"name":)" + quote(k.mangled) + "}");
    const auto dim = [](const char* name, const Dim3& d) {
        std::string out;
        for (int i = 0; i < 3; ++i)
            out += std::string(",\"") + name + "_" + "xyz"[i] +
                   "\":" + std::to_string(d[static_cast<size_t>(i)]);
        return out;
    };
    ++kernels_;
    line(R"({"type":"kernel","correlation":)" + std::to_string(++correlation_) + R"(,"name":)" +
         std::to_string(it->second) + R"(,"device":0,"context":1,"stream":7,"thread":7)" +
         (range ? R"(,"range":)" + std::to_string(range) : "") + dim("grid", k.grid) + dim("block", k.block) +
         R"(,"registers":)" + std::to_string(k.registers) + R"(,"static_shared":)" +
         std::to_string(k.static_shared) + R"(,"dynamic_shared":)" + std::to_string(k.dynamic_shared) +
         R"(,"local_per_thread":)" + std::to_string(k.local) + origin() + times(duration_ns) + "}");
}

void ProcessWriter::copy(const char* kind, uint64_t bytes, uint64_t range, uint64_t duration_ns) {
    ++copies_;
    line(R"({"type":"memcpy","correlation":)" + std::to_string(++correlation_) + R"(,"copy_kind":")" + kind +
         R"(","bytes":)" + std::to_string(bytes) +
         R"(,"asynchronous":true,"device":0,"context":1,"stream":7,"thread":7)" +
         (range ? R"(,"range":)" + std::to_string(range) : "") + origin() + times(duration_ns) + "}");
}

void ProcessWriter::gemm(const char* type, int m, int n, int k, uint64_t range) {
    ++calls_;
    line(
        R"({"type":"library_call","correlation":)" + std::to_string(++correlation_) +
        R"(,"library":"cuBLAS","function":"cublasGemmStridedBatchedEx","operation":"gemm","device":0,"stream":7,"thread":7,"range":)" +
        std::to_string(range) + R"(,"m":)" + std::to_string(m) + R"(,"n":)" + std::to_string(n) + R"(,"k":)" +
        std::to_string(k) + R"(,"batch":128,"type_a":")" + type + R"(","type_b":")" + type +
        R"(","type_c":")" + type + R"(","compute_type":"fp32")" + origin() + "}");
}

void ProcessWriter::library_call(const std::string& library, const std::string& function,
                                 const std::string& operation, uint64_t range) {
    ++calls_;
    line(R"({"type":"library_call","correlation":)" + std::to_string(++correlation_) + R"(,"library":)" +
         quote(library) + R"(,"function":)" + quote(function) + R"(,"operation":)" + quote(operation) +
         R"(,"device":0,"stream":7,"thread":7)" + (range ? R"(,"range":)" + std::to_string(range) : "") +
         origin() + "}");
}

void ProcessWriter::end() {
    line(R"({"type":"end","kernels":)" + std::to_string(kernels_) + R"(,"memcpys":)" +
         std::to_string(copies_) + R"(,"memsets":)" + std::to_string(memsets_) + R"(,"library_calls":)" +
         std::to_string(calls_) + R"(,"dropped":0})");
}

CounterWriter::CounterWriter(const std::string& process_file, const std::string& ground) {
    line(
        R"({"type":"counters","schema":"attnscope-counters","version":"1.0","attnscope":"0.1.0","process":)" +
        quote(process_file) + R"(,"ground":)" + quote(ground) + R"(,"cupti":130000,"data_crc32":1})");
}

std::string CounterWriter::id(const std::string& metric) {
    const auto [it, fresh] = metrics_.emplace(metric, metrics_.size() + 1);
    if (fresh)
        line(R"({"type":"metric","id":)" + std::to_string(it->second) + R"(,"name":)" + quote(metric) +
             R"(,"chip":"GA100"})");
    return std::to_string(it->second);
}

void CounterWriter::value(const std::string& launch, const std::string& metric, double value) {
    const std::string number = id(metric);
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value);
    ++counters_;
    line(R"({"type":"counter",)" + launch + R"(,"metric":)" + number + R"(,"value":)" + text + "}");
}

void CounterWriter::absent(const std::string& launch, const std::string& metric, const std::string& why) {
    const std::string number = id(metric);
    ++counters_;
    line(R"({"type":"counter",)" + launch + R"(,"metric":)" + number + R"(,"absent":)" + quote(why) + "}");
}

void CounterWriter::end() {
    line(R"({"type":"end","images":1,"counters":)" + std::to_string(counters_) + R"(,"unjoined":0})");
}

std::string run_json(std::string_view ground, std::string_view version) {
    return R"({"schema":"attnscope-run","version":")" + std::string(version) +
           R"(","attnscope":"0.1.0","ground":")" + std::string(ground) +
           R"(","device_request":"virtual:A100","devices":["A100-SXM4-80GB"],"command":["attention_workload","--seq","1024"],)"
           R"("started":"2026-11-30T21:00:00Z","ended":"2026-11-30T21:00:09Z","exit_code":0})";
}

std::string counters_run_json(std::string_view ground, std::string_view more) {
    std::string text = run_json(ground, "1.1");
    text.pop_back();
    return text +
           R"(,"collections":["counters"],"counters":{"request":"core","metrics":["dram__bytes_read.sum"],"range":"kernel","replay":false,"passes":{"GA100":1}})" +
           std::string(more) + "}";
}

}  // namespace attnscope::test
