#include "blog_run.h"

#include <functional>
#include <map>
#include <sstream>

namespace attnscope::test {
namespace {

// Registers, static shared memory and stack: cuobjdump -arch sm_80 -res-usage of torch 2.11.0's
// libtorch_cuda.so.
const KernelSpec kScale{
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BUnaryFunctorIN3c108BFloat16ES4_S4_NS0_15binary_"
    "internal10MulFunctorIfEEEESt5arrayIPcLm2EEEEviT0_T1_",
    {262144, 1, 1},
    {128, 1, 1},
    28};
const KernelSpec kScale32{
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BUnaryFunctorIfffNS0_15binary_"
    "internal10MulFunctorIfEEEESt5arrayIPcLm2EEEEviT0_T1_",
    {16384, 1, 1},
    {128, 1, 1},
    28};
const KernelSpec kMaskedFill{
    "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implIZZZNS0_44_GLOBAL__N__50c743a2_11_"
    "Indexing_cu_89862edb18masked_fill_kernelERNS_14TensorIteratorERKN3c106ScalarEENKUlvE_clEvENKUlvE10_"
    "clEvEUlNS6_8BFloat16EbE_EEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
    {262144, 1, 1},
    {128, 1, 1},
    26};
const KernelSpec kSoftmax{
    "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIN3c108BFloat16ES2_"
    "fLi10ELb0ELb0EEEvPT0_PKT_iiiPKbib",
    {32768, 1, 1},
    {32, 4, 1},
    48};
const KernelSpec kSoftmax32{
    "_ZN43_GLOBAL__N__b6de9c8c_10_SoftMax_cu_9f978f6320softmax_warp_forwardIfffLi10ELb0ELb0EEEvPT0_PKT_"
    "iiiPKbib",
    {32768, 1, 1},
    {32, 4, 1},
    48};
const KernelSpec kIsNegInf{
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_49_GLOBAL__N__d2ba64fb_16_TensorCompare_cu_"
    "71e06f4e20isneginf_kernel_implERNS_18TensorIteratorBaseEENKUlvE_clEvENKUlvE0_clEvEUlfE_"
    "St5arrayIPcLm2EEEEviT0_T1_",
    {262144, 1, 1},
    {128, 1, 1},
    28};
const KernelSpec kAll{
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_15and_kernel_"
    "cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_",
    {8192, 1, 1},
    {32, 16, 1},
    26,
    16};
const KernelSpec kWhere{
    "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implIZZZNS0_49_GLOBAL__N__d2ba64fb_16_"
    "TensorCompare_cu_71e06f4e17where_kernel_implERNS_14TensorIteratorEENKUlvE_clEvENKUlvE9_clEvEUlbffE_"
    "EEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
    {262144, 1, 1},
    {128, 1, 1},
    30};
const KernelSpec kFillBool{
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIbEESt5arrayIPcLm1EEEEviT0_T1_",
    {2048, 1, 1},
    {128, 1, 1},
    10};
const KernelSpec kFill32{
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
    {1, 1, 1},
    {128, 1, 1},
    14};
const KernelSpec kTriu{
    "_ZN2at6native16triu_tril_kernelIbiLb1ELi8ELb0EEEvNS_4cuda6detail10TensorInfoIT_T0_EENS4_IKS5_S6_EEllS6_",
    {128, 1, 1},
    {1024, 1, 1},
    30};
const KernelSpec kCastUp{
    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_"
    "18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_"
    "St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_"
    "13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_",
    {16384, 1, 1},
    {128, 1, 1},
    30};
const KernelSpec kCastDown{
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_25bfloat16_copy_kernel_cudaERNS_"
    "18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
    {16384, 1, 1},
    {128, 1, 1},
    28};
const KernelSpec kAdd32{
    "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor_"
    "addIfEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
    {524288, 1, 1},
    {128, 1, 1},
    14};
const KernelSpec kFlash{
    "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"
    "traitsILi64ELi128ELi128ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi64ELi128ELi128ELi4ES3_"
    "EELb0ELb1ELb0ELb0ELb1ELb1ELb0ELb0EEEvNS_16Flash_fwd_paramsE",
    {8, 8, 16},
    {128, 1, 1},
    255,
    0,
    49152,
    88};
const KernelSpec kEfficient{
    "_Z40fmha_cutlassF_bf16_aligned_64x64_rf_"
    "sm80N22PyTorchMemEffAttention15AttentionKernelIN7cutlass10bfloat16_tENS1_"
    "4arch4Sm80ELb1ELi64ELi64ELi64ELb1ELb1EE6ParamsE",
    {16, 16, 8},
    {32, 4, 1},
    128,
    0,
    18944,
    8};

struct Writer {
    ProcessWriter w;
    const BlogOptions& o;

    uint64_t ns(uint64_t duration) const { return o.times ? duration : 0; }
    void kernel(KernelSpec spec, uint64_t range, uint64_t duration) { w.kernel(spec, range, ns(duration)); }
    /// cuBLAS: a call on a virtual GPU, a kernel on a real one.
    void product(bool fp32, int m, int n, int k, uint64_t range, uint64_t duration) {
        if (o.ground == "virtual") return w.gemm(fp32 ? "fp32" : "bf16", m, n, k, range);
        kernel(
            {fp32 ? "ampere_sgemm_128x64_tn" : "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
             {8, 8, 128},
             {128, 1, 1},
             122,
             0,
             49152},
            range, duration);
    }

    void naive(uint64_t r, bool copies) {
        product(false, 1024, 1024, 64, r, 400'000);
        kernel(kScale, r, 330'000);
        if (copies) w.copy("DtoD", 2ull * o.batch * 16 * 1024 * 1024, r, ns(330'000));
        kernel(kMaskedFill, r, 400'000);
        kernel(kSoftmax, r, 350'000);
        product(false, 64, 1024, 1024, r, 475'000);
    }
    void math(uint64_t r) {
        for (int i = 0; i < 3; ++i) kernel(kCastUp, r, 40'000);
        for (int i = 0; i < 2; ++i) kernel(kScale32, r, 40'000);
        kernel(kFillBool, r, 2'000);
        kernel(kTriu, r, 2'000);
        kernel(kFill32, r, 2'000);
        kernel(kFill32, r, 2'000);
        kernel(kWhere, r, 3'000);
        product(true, 1024, 1024, 64, r, 1'500'000);
        kernel(kAdd32, r, 700'000);
        kernel(kSoftmax32, r, 700'000);
        kernel(kIsNegInf, r, 400'000);
        kernel(kAll, r, 150'000);
        kernel(kFill32, r, 2'000);
        kernel(kWhere, r, 800'000);
        product(true, 64, 1024, 1024, r, 1'500'000);
        kernel(kCastDown, r, 40'000);
        kernel(kCastDown, r, 500'000);
    }
    void flash(uint64_t r) {
        KernelSpec spec = kFlash;
        spec.grid[1] = o.batch;
        kernel(spec, r, 146'800);
    }
    void efficient(uint64_t r) {
        KernelSpec spec = kEfficient;
        spec.grid[2] = o.batch;
        kernel(spec, r, 277'900);
    }
    void cudnn(uint64_t r) {
        if (o.ground == "virtual")
            return w.library_call("cuDNN", "cudnnBackendExecute", "attention_forward", r);
        kernel({"cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_"
                "kernel0_0",
                {8, 16, o.batch},
                {256, 1, 1},
                240,
                0,
                65536},
               r, 186'300);
    }

    void implementation(const std::string& name, const std::string& backend, uint64_t peak,
                        const std::function<void(uint64_t)>& launch) {
        const uint64_t outer = w.open("attnscope.implementation/" + name);
        const uint64_t warmup = w.open("attnscope.warmup", outer);
        if (backend == "efficient")
            w.copy("HtoD", 64, warmup, ns(1000));  // set-up that steady iterations lack
        launch(warmup);
        w.close(warmup);
        for (int i = 0; i < o.iterations; ++i) {
            const uint64_t iteration = w.open("attnscope.iteration", outer);
            launch(iteration);
            w.close(iteration);
        }
        w.close(outer);
        w.mark("attnscope.implementation {\"name\":\"" + name + "\",\"status\":\"ran\"" +
               (backend.empty() ? "" : ",\"backend\":\"" + backend + "\"") +
               ",\"peak_allocated_bytes\":" + std::to_string(peak) +
               (o.ground != "virtual" && name != "sdpa_math"
                    ? ",\"max_abs_difference\":" +
                          std::to_string(backend == "efficient" ? o.efficient_difference : 0.003) +
                          ",\"compared_with\":\"sdpa_math\""
                    : "") +
               (o.ground != "virtual" ? ",\"non_finite_elements\":" +
                                            std::to_string(backend == "cudnn" ? o.cudnn_non_finite : 0)
                                      : "") +
               "}");
    }
};

}  // namespace

std::string blog_process(const BlogOptions& options) {
    Writer b{
        ProcessWriter(options.ground,
                      options.collection.empty() ? "" : ",\"collection\":\"" + options.collection + "\""),
        options};
    ProcessWriter& w = b.w;
    w.line(R"({"type":"library","name":"libtorch","path":"/torch/lib/libtorch.so","version":"2.11.0"})");
    w.line(R"({"type":"library","name":"cudnn","path":"/lib/libcudnn.so.9"})");
    w.a100();
    if (options.with_workload)
        w.mark(
            "attnscope.workload {\"batch\":" + std::to_string(options.batch) +
            R"(,"heads":16,"kv_heads":16,"query_length":1024,"key_length":1024,"head_dim":64,"dtype":"bf16","causal":true,"mask":"none","backward":false,"warmup":1,"iterations":2,"torch":"2.11.0","language":"c++"})");
    w.mark(
        R"(attnscope.choice {"chosen":"flash","order":["flash","efficient","math","cudnn","overrideable"],"refused":{}})");
    b.implementation("naive", "", 1145044992, [&](uint64_t r) { b.naive(r, true); });
    if (!options.without_inplace)
        b.implementation("naive_inplace", "", 876609536, [&](uint64_t r) { b.naive(r, false); });
    b.implementation("sdpa_math", "math", 2285895680, [&](uint64_t r) { b.math(r); });
    b.implementation("sdpa_efficient", "efficient", 71827456, [&](uint64_t r) { b.efficient(r); });
    if (options.refuse_flash)
        w.mark(
            R"(attnscope.implementation {"name":"sdpa_flash","status":"refused","reason":"Flash Attention does not support non-null attn_mask.","backend":"flash"})");
    else
        b.implementation("sdpa_flash", "flash", 72351744, [&](uint64_t r) { b.flash(r); });
    b.implementation("sdpa_cudnn", "cudnn", 72351744, [&](uint64_t r) { b.cudnn(r); });
    b.implementation("sdpa_auto", "auto", 72351744, [&](uint64_t r) { b.flash(r); });
    w.end();
    return w.text();
}

void write_blog_run(const std::filesystem::path& folder, const BlogOptions& options) {
    std::filesystem::create_directories(folder);
    write_text(folder / "run.json", run_json(options.ground));
    write_text(folder / "test-4242-1764500000000000000.jsonl", blog_process(options));
}

std::string blog_counters(const std::string& process_text, const std::string& file, const std::string& ground,
                          const BlogCounters& values) {
    CounterWriter c(file, ground);
    std::map<std::string, std::string> names;  // id -> mangled
    const auto between = [](const std::string& line, const std::string& from, char to) {
        const size_t at = line.find(from);
        return at == std::string::npos
                   ? std::string()
                   : line.substr(at + from.size(), line.find(to, at + from.size()) - at - from.size());
    };
    std::istringstream lines(process_text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(R"({"type":"name")"))
            names[between(line, "\"id\":", ',')] = between(line, "\"name\":\"", '"');
        if (!line.starts_with(R"({"type":"kernel")")) continue;
        const std::string name = names[between(line, "\"name\":", ',')];
        const uint64_t launch = std::stoull(between(line, "\"correlation\":", ','));
        const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
        const bool flash = has("flash_fwd"), product = has("gemm"), fp32 = has("sgemm");
        const bool fused = flash || has("fmha") || has("fprop");
        c.launch(launch, "dram__bytes_read.sum", fused ? 50331648 : 268435456);
        c.launch(launch, "dram__bytes_write.sum", fused ? 16777216 : 134217728);
        c.launch(launch, "sm__warps_active.avg.pct_of_peak_sustained_active",
                 flash   ? values.flash_occupancy
                 : fused ? 23
                         : 70);
        c.launch(launch, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                 flash     ? values.flash_tensor
                 : fused   ? 35
                 : fp32    ? values.fp32_product_tensor
                 : product ? 25
                           : 0);
        c.launch(launch, "sm__cycles_active.avg", 200000);
        c.launch(launch, "gpu__time_duration.sum", 160000);
    }
    c.end();
    return c.text();
}

void write_counted_blog_run(const std::filesystem::path& folder, const BlogOptions& options,
                            const BlogCounters& values) {
    std::filesystem::create_directories(folder);
    write_text(folder / "run.json", counters_run_json(options.ground));
    BlogOptions counted = options;
    counted.times = false;
    counted.collection = "counters";
    const std::string text = blog_process(counted);
    write_text(folder / "test-4242-1764500000000000000.jsonl", text);
    write_text(folder / "test-4242-1764500000000000000.counters.jsonl",
               blog_counters(text, "test-4242-1764500000000000000.jsonl",
                             options.ground == "real" ? "real" : "fixture", values));
    if (options.times) write_text(folder / "test-4343-1764500060000000000.jsonl", blog_process(options));
}

}  // namespace attnscope::test
