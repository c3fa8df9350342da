#include "sample.h"

#include <stdexcept>

namespace attnscope::gate::test {
namespace {

Measurement number(const char* metric, double value) {
    return {metric, {value}, {}, {}};
}
Measurement word(const char* metric, const char* text) {
    return {metric, {}, text, {}};
}

Part kernel(const char* place, const char* name, double count, double registers, double occupancy) {
    return {Level::kernel,
            place,
            name,
            {number("count", count), number("registers", registers), number("shared", 0), number("local", 0),
             number("occupancy", occupancy)}};
}

Measurement& find(std::vector<Measurement>& all, const std::string& metric) {
    for (Measurement& m : all)
        if (m.metric == metric) return m;
    throw std::runtime_error("the sample has no " + metric);
}

}  // namespace

GateFacts blog_facts(const attnscope::test::BlogOptions& options) {
    const attnscope::test::TemporaryFolder folder;
    attnscope::test::write_blog_run(folder.path() / "run", options);
    const Run run = read_run(folder.path() / "run");
    return facts_of(run, analyze(run));
}

GateFacts small_facts() {
    GateFacts f;
    f.gpu = "NVIDIA Test GPU";
    f.inputs = {{"batch", "8"}, {"dtype", "bf16"}, {"mask", "none"}};
    f.environment = {{"cudnn", "9.19.0"}, {"torch", "2.11.0"}};
    Subject fused;
    fused.name = "fused";
    fused.measurements = {
        word("status", "ran"),        word("backend", "flash"),    number("launches", 1),
        number("kernels", 1),         number("library_calls", 0),  number("copies", 0),
        number("memsets", 0),         number("copied_bytes", 0),   number("peak_memory", 1048576),
        number("least_bytes", 65536), number("dram_read", 1000000)};
    fused.parts = {kernel("aten::scaled_dot_product_attention", "flash_fwd_kernel<64>", 1, 128, 25)};
    Subject plain;
    plain.name = "plain";
    plain.measurements = {
        word("status", "ran"),        number("launches", 5),      number("kernels", 3),
        number("library_calls", 1),   number("copies", 1),        number("memsets", 0),
        number("copied_bytes", 4096), number("peak_memory", 2e6), number("least_bytes", 65536)};
    plain.parts = {kernel("aten::masked_fill", "masked_fill_kernel", 1, 26, 62.5),
                   kernel("aten::softmax", "softmax_kernel", 2, 48, 62.5),
                   {Level::library_call, "aten::matmul", "cuBLAS gemm", {number("count", 1)}},
                   {Level::copy, "aten::masked_fill", "DtoD", {number("count", 1), number("bytes", 4096)}}};
    f.subjects = {fused, plain};
    return f;
}

Subject& subject(GateFacts& facts, const std::string& name) {
    for (Subject& s : facts.subjects)
        if (s.name == name) return s;
    throw std::runtime_error("the sample has no " + name);
}

Measurement& measurement(GateFacts& facts, const std::string& name, const std::string& metric) {
    return find(subject(facts, name).measurements, metric);
}

Measurement& part_measurement(GateFacts& facts, const std::string& name, const std::string& part,
                              const std::string& metric) {
    for (Part& p : subject(facts, name).parts)
        if (p.name == part) return find(p.measurements, metric);
    throw std::runtime_error("the sample has no " + part);
}

}  // namespace attnscope::gate::test
