#include "function_attributes.h"

#include <functional>
#include <mutex>
#include <unordered_map>

#include "loaded.h"

namespace attnscope::collector {
namespace {

thread_local int own_calls = 0;

struct Driver {
    template <class Function>
    static Function find(const char* name) {
        return find_function<std::remove_pointer_t<Function>>("libcuda.so.1", name);
    }
    decltype(&cuFuncGetAttribute) function_attribute =
        find<decltype(&cuFuncGetAttribute)>("cuFuncGetAttribute");
    decltype(&cuKernelGetAttribute) kernel_attribute =
        find<decltype(&cuKernelGetAttribute)>("cuKernelGetAttribute");
    decltype(&cuFuncGetName) function_name = find<decltype(&cuFuncGetName)>("cuFuncGetName");
    decltype(&cuKernelGetName) kernel_name = find<decltype(&cuKernelGetName)>("cuKernelGetName");
};

const Driver& driver() {
    static const Driver found;
    return found;
}

struct Key {
    CUcontext context;
    void* function;
    bool operator==(const Key&) const = default;
};
struct Hash {
    size_t operator()(const Key& key) const noexcept {
        return std::hash<void*>()(key.function) * 31 + std::hash<void*>()(key.context);
    }
};

struct Cache {
    std::mutex mutex;
    std::unordered_map<Key, std::shared_ptr<const FunctionFacts>, Hash> facts;
    uint64_t forgotten = 0;  ///< how many times: what was asked before one such may be of an old handle
};
constexpr size_t kMaxFacts = 16384;

Cache& cache() {
    static auto& made = *new Cache;  // threads may launch while the process ends
    return made;
}

/// Asks one handle. A CUkernel given as CUfunction is answered with "invalid handle"; the recipe is what
/// others found to work (facts/cupti-contract.md, section 7).
struct Asker {
    const Driver& driver;
    void* handle;
    int device;
    bool kernel = false;     ///< known to be a CUkernel
    bool try_again = false;  ///< the driver may say more later

    std::optional<uint32_t> attribute(CUfunction_attribute attribute) {
        int value = 0;  // a driver that fails writes nothing
        CUresult result = CUDA_ERROR_INVALID_HANDLE;
        if (!kernel && driver.function_attribute != nullptr)
            result = driver.function_attribute(&value, attribute, static_cast<CUfunction>(handle));
        if (result == CUDA_ERROR_INVALID_HANDLE && driver.kernel_attribute != nullptr) {
            value = 0;
            result = driver.kernel_attribute(&value, attribute, static_cast<CUkernel>(handle), device);
            kernel = kernel || result == CUDA_SUCCESS;
        }
        if (result == CUDA_ERROR_FUNCTION_NOT_LOADED) try_again = true;
        if (result != CUDA_SUCCESS || value < 0) return std::nullopt;
        return static_cast<uint32_t>(value);
    }

    std::string name() const {
        const char* name = nullptr;
        CUresult result = CUDA_ERROR_INVALID_HANDLE;
        if (!kernel && driver.function_name != nullptr)
            result = driver.function_name(&name, static_cast<CUfunction>(handle));
        if (result == CUDA_ERROR_INVALID_HANDLE && driver.kernel_name != nullptr)
            result = driver.kernel_name(&name, static_cast<CUkernel>(handle));
        return result == CUDA_SUCCESS && name != nullptr ? name : "";
    }
};

FunctionFacts ask(void* handle, int device, bool& try_again) {
    const OwnCall own;
    Asker asker{driver(), handle, device};
    FunctionFacts facts;
    facts.registers = asker.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
    facts.static_shared = asker.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    facts.local_per_thread = asker.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    facts.required_cluster = {asker.attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH).value_or(0),
                              asker.attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT).value_or(0),
                              asker.attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH).value_or(0)};
    facts.name = asker.name();
    try_again = asker.try_again;
    return facts;
}

}  // namespace

OwnCall::OwnCall() {
    ++own_calls;
}
OwnCall::~OwnCall() {
    --own_calls;
}
bool inside_own_call() {
    return own_calls != 0;
}

void prepare_facts() {
    driver();
    cache();
}

std::shared_ptr<const FunctionFacts> shared_facts_of(CUcontext context, void* function_or_kernel,
                                                     int device) {
    Cache& known = cache();
    const Key key{context, function_or_kernel};
    uint64_t forgotten = 0;
    {
        const std::lock_guard lock(known.mutex);
        const auto found = known.facts.find(key);
        if (found != known.facts.end()) return found->second;
        forgotten = known.forgotten;
    }
    bool try_again = false;
    auto facts = std::make_shared<const FunctionFacts>(ask(function_or_kernel, device, try_again));
    if (try_again) return facts;
    const std::lock_guard lock(known.mutex);
    if (known.forgotten != forgotten) return facts;
    if (known.facts.size() >= kMaxFacts) known.facts.clear();
    return known.facts.emplace(key, std::move(facts)).first->second;
}

FunctionFacts facts_of(CUcontext context, void* function_or_kernel, int device) {
    return *shared_facts_of(context, function_or_kernel, device);
}

void forget_module(CUcontext context) {
    Cache& known = cache();
    const std::lock_guard lock(known.mutex);
    ++known.forgotten;
    std::erase_if(known.facts, [context](const auto& entry) {
        return context == nullptr || entry.first.context == context;
    });
}

}  // namespace attnscope::collector
