#include <gtest/gtest.h>

#include <set>

#include "attnscope/error.h"
#include "attnscope/gpu.h"
#include "gpu_table.h"

namespace attnscope {
namespace {

template <class Call>
std::string failure(Call call) {
    try {
        call();
    } catch (const Error& e) {
        EXPECT_EQ(e.exit(), Exit::bad_input);
        return e.what();
    }
    return "no error";
}

TEST(Gpus, AreThoseOfTheIssue) {
    EXPECT_EQ(known_gpus(),
              "V100, T4, A100-SXM4-80GB, L4, L40S, RTX-4090, H100-SXM5, H100-PCIe, H200, B200, RTX-5090");
}

TEST(Gpus, AreFoundByIdAliasAndDriverNameInAnyCase) {
    ASSERT_NE(find_gpu("H100"), nullptr);
    EXPECT_EQ(find_gpu("H100")->id, "H100-SXM5");
    EXPECT_EQ(find_gpu("a100")->id, "A100-SXM4-80GB");
    EXPECT_EQ(find_gpu("NVIDIA H100 80GB HBM3")->id, "H100-SXM5");
    EXPECT_EQ(find_gpu("rtx 4090")->id, "RTX-4090");
    EXPECT_EQ(find_gpu("H300"), nullptr);
    EXPECT_EQ(find_gpu(""), nullptr);
}

// What LibTorch and the runtime's cudaGetDeviceProperties read of a device; ATTRIBUTES of cuda.h in lower
// case.
TEST(Gpus, HaveEveryAttributeThatAProgramAsksFor) {
    const std::vector<std::string> needed = {"max_threads_per_block",
                                             "max_block_dim_x",
                                             "max_block_dim_y",
                                             "max_block_dim_z",
                                             "max_grid_dim_x",
                                             "max_grid_dim_y",
                                             "max_grid_dim_z",
                                             "max_shared_memory_per_block",
                                             "total_constant_memory",
                                             "warp_size",
                                             "max_pitch",
                                             "max_registers_per_block",
                                             "clock_rate",
                                             "texture_alignment",
                                             "gpu_overlap",
                                             "multiprocessor_count",
                                             "kernel_exec_timeout",
                                             "integrated",
                                             "can_map_host_memory",
                                             "compute_mode",
                                             "concurrent_kernels",
                                             "ecc_enabled",
                                             "pci_bus_id",
                                             "pci_device_id",
                                             "pci_domain_id",
                                             "tcc_driver",
                                             "memory_clock_rate",
                                             "global_memory_bus_width",
                                             "l2_cache_size",
                                             "max_threads_per_multiprocessor",
                                             "async_engine_count",
                                             "unified_addressing",
                                             "stream_priorities_supported",
                                             "global_l1_cache_supported",
                                             "local_l1_cache_supported",
                                             "max_shared_memory_per_multiprocessor",
                                             "max_registers_per_multiprocessor",
                                             "managed_memory",
                                             "multi_gpu_board",
                                             "host_native_atomic_supported",
                                             "single_to_double_precision_perf_ratio",
                                             "pageable_memory_access",
                                             "concurrent_managed_access",
                                             "compute_preemption_supported",
                                             "cooperative_launch",
                                             "max_shared_memory_per_block_optin",
                                             "host_register_supported",
                                             "virtual_memory_management_supported",
                                             "handle_type_posix_file_descriptor_supported",
                                             "max_blocks_per_multiprocessor",
                                             "max_persisting_l2_cache_size",
                                             "max_access_policy_window_size",
                                             "reserved_shared_memory_per_block",
                                             "memory_pools_supported",
                                             "cluster_launch",
                                             "tensor_map_access_supported",
                                             "ipc_event_supported",
                                             "gpu_pci_device_id",
                                             "mem_sync_domain_count",
                                             "memory_bytes",
                                             "dram_bytes_per_second",
                                             "flops_tensor_fp16",
                                             "flops_fp32",
                                             "flops_fp64"};
    for (const Gpu& gpu : gpus())
        for (const std::string& key : needed) EXPECT_NE(gpu.figure(key), nullptr) << gpu.id << " " << key;
}

TEST(Gpus, EveryFigureHasASourceOrSaysThatItIsAssumed) {
    for (const Gpu& gpu : gpus()) {
        std::set<std::string> keys;
        for (const Figure& figure : gpu.figures) {
            EXPECT_FALSE(figure.source.empty()) << gpu.id << " " << figure.key;
            EXPECT_EQ(figure.assumed, figure.source == "assumed") << gpu.id << " " << figure.key;
            EXPECT_TRUE(keys.insert(figure.key).second) << gpu.id << " has " << figure.key << " twice";
        }
        // What decides dispatch, launches and occupancy is never assumed.
        for (const char* key : {"multiprocessor_count", "max_shared_memory_per_block_optin",
                                "max_shared_memory_per_multiprocessor", "max_threads_per_multiprocessor",
                                "max_blocks_per_multiprocessor", "memory_bytes",
                                "reserved_shared_memory_per_block", "l2_cache_size", "dram_bytes_per_second"})
            EXPECT_FALSE(gpu.figure(key)->assumed) << gpu.id << " " << key;
    }
}

struct Expected {
    const char* id;
    int major, minor, sms;
    double per_sm, optin, reserved, threads, ctas;
};

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability"; SM counts: NVIDIA's
// datasheets.
TEST(Gpus, LimitsOfTheirComputeCapability) {
    const Expected table[] = {{"V100", 7, 0, 80, 98304, 98304, 0, 2048, 32},
                              {"T4", 7, 5, 40, 65536, 65536, 0, 1024, 16},
                              {"A100", 8, 0, 108, 167936, 166912, 1024, 2048, 32},
                              {"L4", 8, 9, 58, 102400, 101376, 1024, 1536, 24},
                              {"L40S", 8, 9, 142, 102400, 101376, 1024, 1536, 24},
                              {"RTX-4090", 8, 9, 128, 102400, 101376, 1024, 1536, 24},
                              {"H100", 9, 0, 132, 233472, 232448, 1024, 2048, 32},
                              {"H100-PCIe", 9, 0, 114, 233472, 232448, 1024, 2048, 32},
                              {"H200", 9, 0, 132, 233472, 232448, 1024, 2048, 32},
                              {"B200", 10, 0, 148, 233472, 232448, 1024, 2048, 32},
                              {"RTX-5090", 12, 0, 170, 102400, 101376, 1024, 1536, 24}};
    for (const Expected& e : table) {
        const Gpu* gpu = find_gpu(e.id);
        ASSERT_NE(gpu, nullptr) << e.id;
        EXPECT_EQ(gpu->major, e.major) << e.id;
        EXPECT_EQ(gpu->minor, e.minor) << e.id;
        EXPECT_EQ(gpu->value("multiprocessor_count"), e.sms) << e.id;
        EXPECT_EQ(gpu->value("max_shared_memory_per_multiprocessor"), e.per_sm) << e.id;
        EXPECT_EQ(gpu->value("max_shared_memory_per_block_optin"), e.optin) << e.id;
        EXPECT_EQ(gpu->value("reserved_shared_memory_per_block"), e.reserved) << e.id;
        EXPECT_EQ(gpu->value("max_threads_per_multiprocessor"), e.threads) << e.id;
        EXPECT_EQ(gpu->value("max_blocks_per_multiprocessor"), e.ctas) << e.id;
        EXPECT_EQ(gpu->value("max_shared_memory_per_block"), 49152) << e.id;
        EXPECT_EQ(gpu->value("max_registers_per_multiprocessor"), 65536) << e.id;
    }
}

// The datasheet's bandwidth is what clock and bus give (two transfers a clock), within rounding and boost
// bins.
TEST(Gpus, BandwidthFitsClockAndBus) {
    for (const Gpu& gpu : gpus()) {
        const double computed =
            *gpu.value("memory_clock_rate") * 1e3 * 2 * *gpu.value("global_memory_bus_width") / 8;
        EXPECT_NEAR(*gpu.value("dram_bytes_per_second") / computed, 1.0, 0.03) << gpu.id;
    }
}

TEST(VirtualDevices, CountsAndLists) {
    EXPECT_EQ(parse_virtual_devices("virtual:H100").size(), 1U);
    EXPECT_EQ(parse_virtual_devices("H100x2").size(), 2U);
    EXPECT_EQ(parse_virtual_devices("virtual:H100-SXM5x8").size(), 8U);
    const std::vector<Gpu> mixed = parse_virtual_devices("A100x2,H100");
    ASSERT_EQ(mixed.size(), 3U);
    EXPECT_EQ(mixed[0].id, "A100-SXM4-80GB");
    EXPECT_EQ(mixed[2].id, "H100-SXM5");
}

TEST(VirtualDevices, ErrorsNameWhatIsKnown) {
    for (const char* text : {"H300", "", "virtual:", "H100x", "x2", "H100x2x", "H100,,A100"}) {
        const std::string message = failure([&] { parse_virtual_devices(text); });
        EXPECT_NE(message.find("unknown device"), std::string::npos) << text << ": " << message;
        EXPECT_NE(message.find("H100-SXM5"), std::string::npos) << text;
    }
    EXPECT_NE(failure([] { parse_virtual_devices("H100x0"); }).find("between 1 and 64"), std::string::npos);
    EXPECT_NE(failure([] { parse_virtual_devices("H100x99999"); }).find("between 1 and 64"),
              std::string::npos);
    EXPECT_NE(failure([] { parse_virtual_devices("H100x99999999999999999999"); }).find("unknown device"),
              std::string::npos);
    EXPECT_NE(failure([] { parse_virtual_devices("H100x40,H100x40"); }).find("between 1 and 64"),
              std::string::npos);
}

constexpr const char* kSmall =
    "# a comment\n\n"
    "*\twarp_size\t32\tthreads\tguide\n"
    "sm_90\tcluster_launch\t1\t\tguide\n"
    "*\tcluster_launch\t0\t\tguide\n"
    "X\tname\tX one\ttext\tme\nX\tchip\tGX\ttext\tme\nX\tcompute_capability\t9.0\ttext\tme\n"
    "X\taliases\tx1, x2\ttext\tme\nX\tl2_cache_size\t1e6\tbytes\tassumed\n";

TEST(Table, TheNarrowerScopeWins) {
    const std::vector<TableGpu> table = parse_gpu_table(kSmall, "t");
    ASSERT_EQ(table.size(), 1U);
    EXPECT_EQ(table[0].gpu.value("cluster_launch"), 1);
    EXPECT_EQ(table[0].gpu.value("warp_size"), 32);
    EXPECT_EQ(table[0].gpu.value("absent"), std::nullopt);
    EXPECT_TRUE(table[0].gpu.figure("l2_cache_size")->assumed);
    EXPECT_EQ(table[0].aliases, (std::vector<std::string>{"x1", "x2"}));
}

TEST(Table, ErrorsNameTheLine) {
    const auto with = [](const std::string& line) {
        return failure([&] { parse_gpu_table(std::string(kSmall) + line + "\n", "my.tsv"); });
    };
    EXPECT_EQ(with("X\ty\t1\t\tme"), "no error");
    EXPECT_EQ(with("X\ty\t1\tme").rfind("my.tsv, line 11: expected scope", 0), 0U) << with("X\ty\t1\tme");
    EXPECT_NE(with("X\ty\t1 2\t\tme").find("line 11: \"1 2\" is not a number"), std::string::npos);
    EXPECT_NE(with("X\tl2_cache_size\t1\t\tme").find("line 11: \"l2_cache_size\" is given twice"),
              std::string::npos);
    EXPECT_NE(with("X\tcolour\tred\ttext\tme").find("line 11: unknown text \"colour\""), std::string::npos);
    EXPECT_NE(with("X\ty\t1\t\t").find("line 11:"), std::string::npos);
    EXPECT_NE(with("Y\ty\t1\t\tme").find("Y needs rows for name, chip and compute_capability"),
              std::string::npos);
    EXPECT_NE(with("Y\tcompute_capability\tnine\ttext\tme").find("looks like 9.0"), std::string::npos);
    EXPECT_NE(failure([] { parse_gpu_table("", "my.tsv"); }).find("no GPU in it"), std::string::npos);
    EXPECT_NE(failure([] { parse_gpu_table(std::string(100000, '\t'), "my.tsv"); }).find("line 1"),
              std::string::npos);
}

}  // namespace
}  // namespace attnscope
