// Every format, and what looks like one and is none.
#include "importer.h"
#include "kineto.h"
#include "nsight_compute.h"
#include "nsight_compute_report.h"
#include "nsight_systems.h"
#include "nsys_stats.h"

namespace attnscope::importer {

const std::vector<Format>& formats() {
    static const std::vector<Format> table = {
        {"pytorch", "PyTorch profiler (Kineto) trace", is_kineto, read_kineto},
        {"nsight-systems", "Nsight Systems export (SQLite)", is_nsight_systems, read_nsight_systems},
        {"nsight-compute", "Nsight Compute CSV", is_nsight_compute, read_nsight_compute},
        {"nsight-compute-report", "Nsight Compute report (.ncu-rep)", is_nsight_compute_report,
         read_nsight_compute_report},
        {"nsys-stats", "output of nsys stats (CSV or text)", is_nsys_stats, read_nsys_stats},
    };
    return table;
}

}  // namespace attnscope::importer
