#include "cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "other_client.h"

namespace attnscope::collector {
namespace {

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

bool load_functions(CuptiApi& api) {
    void* lib = api.library;
    look_up(lib, "cuptiGetTimestamp", api.get_timestamp);
    look_up(lib, "cuptiGetResultString", api.get_result_string);
    look_up(lib, "cuptiGetCallbackName", api.get_callback_name);
    look_up(lib, "cuptiSetThreadIdType", api.set_thread_id_type);
    look_up(lib, "cuptiActivityEnableRuntimeApi", api.enable_runtime_api);
    look_up(lib, "cuptiActivityEnableDriverApi", api.enable_driver_api);
    look_up(lib, "cuptiActivityPushExternalCorrelationId", api.push_external_correlation_id);
    look_up(lib, "cuptiActivityPopExternalCorrelationId", api.pop_external_correlation_id);
    return look_up(lib, "cuptiGetVersion", api.get_version) &&
           look_up(lib, "cuptiActivityEnable", api.enable) &&
           look_up(lib, "cuptiActivityRegisterCallbacks", api.register_callbacks) &&
           look_up(lib, "cuptiActivityFlushAll", api.flush_all) &&
           look_up(lib, "cuptiActivityGetNextRecord", api.get_next_record) &&
           look_up(lib, "cuptiActivityGetNumDroppedRecords", api.get_num_dropped_records);
}

/// Enables the records of those API functions that launch. Functions are found by their names, so that one
/// which a newer CUPTI adds is seen too; the numbers only ever grow, so the first gap of this size is the
/// end.
void enable_launching(const CuptiApi& api, CUpti_CallbackDomain domain, CUpti_ActivityKind kind,
                      CUptiResult (*enable)(CUpti_CallbackId, uint8_t), uint32_t probe) {
    constexpr uint32_t kLast = 4096, kGap = 64;
    uint32_t enabled = 0, missing = 0;
    if (enable != nullptr && api.get_callback_name != nullptr) {
        for (uint32_t id = 1; id < kLast && missing < kGap; ++id) {
            const char* name = nullptr;
            if (api.get_callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) {
                ++missing;
                continue;
            }
            missing = 0;
            if (is_launching_function(name) && enable(id, 1) == CUPTI_SUCCESS) ++enabled;
        }
        if (probe != 0) enable(probe, 1);
    }
    if (enabled == 0) api.enable(kind);  // all of them: more records, the same answer
}

/// Registers and enables; the name of the call that failed, nullptr when all went well.
const char* enable_kinds(const CuptiApi& api, CUpti_BuffersCallbackRequestFunc request,
                         CUpti_BuffersCallbackCompleteFunc complete, CUptiResult& result) {
    if (api.set_thread_id_type != nullptr) api.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    result = api.register_callbacks(request, complete);
    if (result != CUPTI_SUCCESS) return "cuptiActivityRegisterCallbacks";
    result = api.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (result != CUPTI_SUCCESS) return "cuptiActivityEnable(CONCURRENT_KERNEL)";
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET}) {
        result = api.enable(kind);
        if (result != CUPTI_SUCCESS) return "cuptiActivityEnable(MEMCPY, MEMCPY2, MEMSET)";
    }
    api.enable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    enable_launching(api, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME, api.enable_runtime_api,
                     0);
    enable_launching(api, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER, api.enable_driver_api,
                     CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion);
    return nullptr;
}

struct Candidate {
    std::string file;
    int mode;  ///< RTLD_NOLOAD for a copy that is in the process already
};

std::vector<Candidate> candidates(const char* hints) {
    constexpr int here = RTLD_LAZY | RTLD_NOLOAD;
    std::vector<Candidate> all = {{"libcupti.so.13", here}, {"libcupti.so.12", here}};
    if (hints != nullptr) {
        std::string_view rest = hints;
        while (!rest.empty()) {
            const std::string_view file = rest.substr(0, rest.find(':'));
            if (!file.empty()) all.push_back({std::string(file), RTLD_LAZY});
            rest.remove_prefix(file.size() < rest.size() ? file.size() + 1 : rest.size());
        }
    }
    all.push_back({"libcupti.so.13", RTLD_LAZY});
    all.push_back({"libcupti.so.12", RTLD_LAZY});
    return all;
}

std::string path_of(void* library) {
    link_map* map = nullptr;
    return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
}

CuptiFailure try_one(CuptiApi& api, const BeginWithCupti& begin) {
    if (!load_functions(api))
        return {"cupti-too-old", api.path + " lacks functions that attnscope needs",
                "use CUPTI 12.6 or later"};
    const CUptiResult versioned = api.get_version(&api.version);
    if (versioned == CUPTI_SUCCESS && api.version != 0 && api.version < kOldestCupti)
        return {"cupti-too-old",
                api.path + " is CUPTI of API version " + std::to_string(api.version) +
                    ", older than CUDA 12.6's 24",
                "use CUPTI 12.6 or later"};
    return begin(api);
}

}  // namespace

std::string CuptiApi::describe(CUptiResult result) const {
    const char* name = nullptr;
    if (get_result_string != nullptr && get_result_string(result, &name) == CUPTI_SUCCESS && name != nullptr)
        return name;
    return "error " + std::to_string(static_cast<int>(result));
}

bool is_launching_function(const char* name) {
    std::string_view n = name;
    if (n.find("HostFunc") != std::string_view::npos) return false;  // leaves no record on the device
    while (n.substr(0, 1) == "_") n.remove_prefix(1);
    if (n.substr(0, 4) == "cuda")
        n.remove_prefix(4);
    else if (n.substr(0, 2) == "cu")
        n.remove_prefix(2);
    else
        return false;
    for (const std::string_view start : {"Launch", "Memcpy", "Memset", "GraphLaunch"})
        if (n.substr(0, start.size()) == start) return true;
    return false;
}

CuptiFailure find_cupti(CuptiApi& api, const char* hints, const BeginWithCupti& begin) {
    CuptiFailure first;
    for (const Candidate& candidate : candidates(hints)) {
        void* library = dlopen(candidate.file.c_str(), candidate.mode);
        if (library == nullptr) continue;
        api = CuptiApi{};
        api.library = library;
        api.path = path_of(library);
        CuptiFailure failure = try_one(api, begin);
        if (failure.code == nullptr) return {};
        if (first.code == nullptr) first = std::move(failure);
        api = CuptiApi{};
        if ((candidate.mode & RTLD_NOLOAD) != 0)
            break;  // the program has its CUPTI: a second copy would only do harm
        dlclose(library);
    }
    if (first.code != nullptr) return first;
    return {"cupti-absent",
            "no libcupti.so.13 or libcupti.so.12 was found: kernels, copies and memsets are not recorded",
            "install CUPTI (it comes with the CUDA toolkit and with PyPI's nvidia-cuda-cupti), or name the "
            "file in ATTNSCOPE_CUPTI"};
}

CuptiFailure start_cupti(CuptiApi& api, const char* hints, CUpti_BuffersCallbackRequestFunc request,
                         CUpti_BuffersCallbackCompleteFunc complete) {
    return find_cupti(api, hints, [&](CuptiApi& found) -> CuptiFailure {
        // Registering would take another client's records away, and nobody would tell it.
        if (const auto holder = name_of_other_client(found.library))
            return {
                "another-cupti-client",
                *holder +
                    " is using CUPTI in this process already: kernels, copies and memsets are not recorded",
                "collect without the other profiler, which may be one that the program starts before CUDA"};
        CUptiResult result = CUPTI_SUCCESS;
        const char* call = enable_kinds(found, request, complete, result);
        if (call == nullptr) return {};
        return {"cupti-refused",
                std::string(call) + " of " + found.path + " answered " + found.describe(result),
                "check that the driver is as new as this CUPTI, and that no other profiler is attached"};
    });
}

}  // namespace attnscope::collector
