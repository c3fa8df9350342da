// Source: the section files that Nsight Compute 2021.1 to 2026.1 ships (SpeedOfLight.section, ...), which
// hold each title beside its metric.
#include "nsight_compute_names.h"

namespace attnscope::importer {
namespace {

struct Row {
    std::string_view section, title, unit, name;  ///< unit "": any
};

constexpr std::string_view kLight = "GPU Speed Of Light", kMemory = "Memory Workload Analysis",
                           kCompute = "Compute Workload Analysis", kScheduler = "Scheduler Statistics",
                           kOccupancy = "Occupancy", kLaunch = "Launch Statistics";

constexpr Row kTable[] = {
    {kLight, "DRAM Frequency", "", "dram__cycles_elapsed.avg.per_second"},
    {kLight, "Elapsed Cycles", "", "gpc__cycles_elapsed.max"},
    {kLight, "Memory Throughput", "%", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "DRAM Throughput", "%", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "Duration", "", "gpu__time_duration.sum"},
    {kLight, "L1/TEX Cache Throughput", "%", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {kLight, "L2 Cache Throughput", "%", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "SM Active Cycles", "", "sm__cycles_active.avg"},
    {kLight, "Compute (SM) Throughput", "%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "SM [%]", "%", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {kMemory, "Memory Throughput", "byte/second", "dram__bytes.sum.per_second"},
    {kMemory, "Mem Busy", "%", "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kMemory, "Max Bandwidth", "%",
     "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kMemory, "L1/TEX Hit Rate", "%", "l1tex__t_sector_hit_rate.pct"},
    {kMemory, "L2 Hit Rate", "%", "lts__t_sector_hit_rate.pct"},
    {kMemory, "Mem Pipes Busy", "%", "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kCompute, "Executed Ipc Active", "", "sm__inst_executed.avg.per_cycle_active"},
    {kCompute, "Executed Ipc Elapsed", "", "sm__inst_executed.avg.per_cycle_elapsed"},
    {kCompute, "Issued Ipc Active", "", "sm__inst_issued.avg.per_cycle_active"},
    {kScheduler, "One or More Eligible", "%", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {kScheduler, "Issued Warp Per Scheduler", "", "smsp__issue_active.avg.per_cycle_active"},
    {kScheduler, "Active Warps Per Scheduler", "", "smsp__warps_active.avg.per_cycle_active"},
    {kScheduler, "Eligible Warps Per Scheduler", "", "smsp__warps_eligible.avg.per_cycle_active"},
    {kOccupancy, "Achieved Occupancy", "%", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {kOccupancy, "Achieved Active Warps Per SM", "", "sm__warps_active.avg.per_cycle_active"},
    {kOccupancy, "Theoretical Occupancy", "%", "sm__maximum_warps_per_active_cycle_pct"},
    {kOccupancy, "Block Limit Registers", "", "launch__occupancy_limit_registers"},
    {kOccupancy, "Block Limit Shared Mem", "", "launch__occupancy_limit_shared_mem"},
    {kOccupancy, "Block Limit Warps", "", "launch__occupancy_limit_warps"},
    {kOccupancy, "Block Limit SM", "", "launch__occupancy_limit_blocks"},
    {kLaunch, "Block Size", "", "launch__block_size"},
    {kLaunch, "Grid Size", "", "launch__grid_size"},
    {kLaunch, "Registers Per Thread", "", "launch__registers_per_thread"},
    {kLaunch, "Static Shared Memory Per Block", "", "launch__shared_mem_per_block_static"},
    {kLaunch, "Dynamic Shared Memory Per Block", "", "launch__shared_mem_per_block_dynamic"},
    {kLaunch, "Waves Per SM", "", "launch__waves_per_multiprocessor"},
};

}  // namespace

std::string_view nsight_compute_name(std::string_view section, std::string_view metric,
                                     std::string_view base_unit) {
    // Where metrics were asked for by name, the name stands there.
    if (metric.find("__") != std::string_view::npos || section.starts_with("Command line profiler"))
        return metric;
    for (const Row& row : kTable)
        if (metric == row.title && section.starts_with(row.section) &&
            (row.unit.empty() || row.unit == base_unit))
            return row.name;
    return {};
}

}  // namespace attnscope::importer
