// CUPTI's libraries, and whether they fit the driver.
#include <algorithm>

#include "checks.h"

namespace attnscope::doctor {
namespace {

constexpr uint32_t kOldest = 24;  // CUDA 12.6: the first with the Range Profiler

/// cupti_version.h of CUDA 13.0: 24 is 12.6, 26 is 12.8, 27 is 12.9, 28 is 12.9 Update 1; from then on
/// xxyyzz.
struct Release {
    uint32_t first;  ///< cuptiGetVersion of its first CUPTI
    const char* toolkit;
    unsigned cuda;  ///< as cuDriverGetVersion writes it
    int driver;     ///< branch
};
// Drivers: table "CUDA Toolkit and Corresponding Driver Versions" of the CUDA release notes
// (https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/): 560.28.03 for 12.6, 570.26 for 12.8, 575.51.03
// for 12.9, 580.65.06 for 13.0, and for every later 13.x by minor version compatibility.
constexpr Release kReleases[] = {{24, "12.6", 12060, 560},
                                 {26, "12.8", 12080, 570},
                                 {27, "12.9", 12090, 575},
                                 {130000, "13.0", 13000, 580}};

const Release& release_of(uint32_t version) {
    const Release* found = kReleases;
    for (const Release& each : kReleases)
        if (version >= each.first) found = &each;
    return *found;
}

std::string folder_of(const std::string& file) {
    return file.substr(0, file.find_last_of('/'));
}

const char* const kGetCupti =
    "install it with the program's CUDA: pip install nvidia-cuda-cupti (CUDA 13) or nvidia-cuda-cupti-cu12, "
    "or a "
    "CUDA toolkit; elsewhere, name the file in ATTNSCOPE_CUPTI";

void check_siblings(const Examined& e, const CuptiFacts& cupti, std::vector<Finding>& out) {
    // CUPTI user guide: both must be found beside libcupti, else the profiler's calls answer NOT_INITIALIZED.
    std::vector<std::string> missing;
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
        if (!e.machine.exists(folder_of(cupti.path) + '/' + name)) missing.emplace_back(name);
    if (missing.empty()) return;
    out.push_back(
        {"CUPTI profiler",
         State::ok,
         joined(missing, " and ") + " missing beside " + shown(cupti.path),
         "install CUPTI whole (pip install --force-reinstall nvidia-cuda-cupti), or name a whole one in "
         "ATTNSCOPE_CUPTI",
         {Use::counters}});
}

}  // namespace

std::string cuda_of_cupti(uint32_t version) {
    if (version < kOldest) return "older than 12.6 (version " + std::to_string(version) + ')';
    if (version < 130000) return version == 28 ? "12.9 Update 1" : release_of(version).toolkit;
    std::string text = std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100);
    if (version % 100 != 0) text += " Update " + std::to_string(version % 100);
    return text;
}

void check_cupti(const Examined& e, std::vector<Finding>& out) {
    const std::string check = "CUPTI";
    const std::vector<Use> needed = e.device_present ? kRealGpu : std::vector<Use>{};
    const CuptiFacts* used = e.usable_cupti();
    if (used == nullptr) {
        const std::string what = e.cupti.empty() ? "no libcupti.so.13 or .12 was found"
                                                 : shown(e.cupti.front().path) +
                                                       " cannot be used: " + shown(e.cupti.front().problem);
        return out.push_back({check, State::warn,
                              what + (e.device_present ? "" : "; without it metrics cannot be listed"),
                              kGetCupti, needed});
    }
    std::string others;
    for (const CuptiFacts& each : e.cupti)
        if (&each != used)
            others += "; also " + shown(each.path) +
                      (each.version ? " (" + cuda_of_cupti(*each.version) + ')' : " (unusable)");
    const std::string seen = "CUDA " + cuda_of_cupti(*used->version) + ", " + shown(used->path) + others;
    if (*used->version < kOldest) {
        out.push_back(
            {check, State::warn, seen, std::string("attnscope needs 12.6 or later: ") + kGetCupti, needed});
    } else if (*used->version == 130000) {
        // CUPTI release notes, 13.0 Update 1: a crash in FlushAll, a deadlock, a segfault where NVTX runs
        // before CUPTI (NVIDIA/NVTX#125, JuliaGPU/CUDA.jl#2884).
        out.push_back({check,
                       State::warn,
                       seen + "; 13.0 before Update 1 can crash with NVTX and in flushes",
                       "update to 13.0 Update 1 or later: pip install -U 'nvidia-cuda-cupti>=13.0.85'",
                       {}});
    } else {
        out.push_back({check, State::ok, seen, "", {}});
    }
    if (e.device_present && *used->version >= kOldest) check_siblings(e, *used, out);
}

void check_versions(const Examined& e, std::vector<Finding>& out) {
    const CuptiFacts* cupti = e.usable_cupti();
    if (!e.device_present || cupti == nullptr || *cupti->version < kOldest) return;
    const Release& needs = release_of(*cupti->version);
    const int branch = e.driver_branch();
    const unsigned cuda = e.driver.cuda.value_or(0);
    if (branch == 0 && cuda == 0) return;
    const std::string check = "driver and CUPTI";
    const std::string here = "CUPTI " + cuda_of_cupti(*cupti->version) + " on driver " +
                             (branch == 0 ? std::string("of unknown version") : e.driver_version);
    const std::string remedy =
        "update the driver to " + std::to_string(needs.driver) +
        " or later, or use a program whose CUDA (and CUPTI) is not newer than the driver's";
    // What libcuda serves counts where it is known: a compatibility package makes an older branch do.
    if (cuda != 0 ? cuda / 1000 < needs.cuda / 1000 : branch < needs.driver)
        out.push_back({check, State::ok, here + ": it needs " + std::to_string(needs.driver) + " or later",
                       remedy, kRealGpu});
    else if (branch != 0 && branch < needs.driver)
        out.push_back({check,
                       State::warn,
                       here + ": made for " + std::to_string(needs.driver) + " or later, may be refused",
                       remedy,
                       {}});
    else
        out.push_back({check, State::ok, here + " fit", "", {}});
}

}  // namespace attnscope::doctor
