#include "collectors/virtual_gpu/core/module.h"

#include <algorithm>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/copy.h"
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/memory.h"

namespace attnscope::vgpu {

namespace {

std::atomic<uint32_t> module_ids{0};

void raise(ResourceEvent event, const Module& module) {
    const Hooks* listener = hooks();
    if (listener == nullptr || listener->resource == nullptr) return;
    listener->resource(event, module.context->handle, module.context->id, module.handle, module.id);
}

Function* make_function(Module& module, const KernelResources& resources, int sm, bool known) {
    auto* function = new Function();
    function->name = intern(resources.name);
    function->module = &module;
    function->context = module.context;
    function->resources = resources;
    function->resources_known = known;
    function->sm = sm;
    function->plan = plan_parameters(resources);
    const DeviceLimits& limits = module.context->device->limits;
    if (!known) function->resources.max_threads = static_cast<uint32_t>(limits.threads_per_block);
    function->max_dynamic_shared =
        std::max(0, limits.shared_per_block - static_cast<int>(resources.static_shared_bytes));
    for (int i = 0; i < 3; i++) function->cluster[i] = static_cast<int>(resources.required_cluster[i]);
    function->handle = static_cast<CUfunction>(handles<Function>().add(function));
    return function;
}

}  // namespace

CUresult load_module(Context& context, std::shared_ptr<DeviceImage> image, Library* library, Module*& out) {
    auto* module = new Module();
    module->id = module_ids.fetch_add(1) + 1;
    module->context = &context;
    module->image = std::move(image);
    module->library = library;
    module->handle = static_cast<CUmodule>(handles<Module>().add(module));
    {
        std::lock_guard lock(context.mutex);
        context.modules.insert(module);
    }
    raise(ResourceEvent::module_loaded, *module);
    out = module;
    return CUDA_SUCCESS;
}

void unload_module(Module& module) {
    if (handles<Module>().remove(module.handle) == nullptr) return;
    raise(ResourceEvent::module_unload_starting, module);
    if (module.library != nullptr) {
        std::lock_guard lock(module.library->mutex);
        module.library->modules.erase(module.context);
        for (auto& [name, kernel] : module.library->kernels) kernel->last = nullptr;
    }
    {
        std::lock_guard lock(module.context->mutex);
        module.context->modules.erase(&module);
    }
    std::map<std::string, Function*, std::less<>> functions;
    std::map<std::string, std::pair<CUdeviceptr, size_t>, std::less<>> variables;
    {
        std::lock_guard lock(module.mutex);
        functions.swap(module.functions);
        variables.swap(module.variables);
        module.image.reset();
    }
    for (auto& [name, function] : functions) handles<Function>().remove(function->handle);
    for (auto& [name, variable] : variables) free_allocation(variable.first, MemoryKind::device);
}

CUresult find_function(Module& module, std::string_view name, Function*& out) {
    std::lock_guard lock(module.mutex);
    if (const auto known = module.functions.find(name); known != module.functions.end()) {
        out = known->second;
        return CUDA_SUCCESS;
    }
    if (module.image == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const DeviceCode* code = nullptr;
    if (CUresult error = module.image->code(*module.context->device, code); error != CUDA_SUCCESS)
        return error;
    const bool known = !module.image->runtime_source();
    KernelResources unknown;
    const KernelResources* resources = &unknown;
    if (const auto found = code->by_name.find(name); found != code->by_name.end()) {
        resources = found->second;
    } else if (known) {
        return CUDA_ERROR_NOT_FOUND;
    } else {
        unknown.name = name;
    }
    out = make_function(module, *resources, code->sm, known);
    module.functions.emplace(std::string(name), out);
    return CUDA_SUCCESS;
}

CUresult find_variable(Module& module, std::string_view name, CUdeviceptr& pointer, size_t& bytes) {
    std::lock_guard lock(module.mutex);
    if (const auto known = module.variables.find(name); known != module.variables.end()) {
        pointer = known->second.first;
        bytes = known->second.second;
        return CUDA_SUCCESS;
    }
    if (module.image == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const DeviceCode* code = nullptr;
    if (CUresult error = module.image->code(*module.context->device, code); error != CUDA_SUCCESS)
        return error;
    for (const DeviceVariable& variable : code->variables) {
        if (variable.name != name) continue;
        Allocation* memory = allocate_device(*module.context, variable.bytes);
        if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        pointer = memory->base;
        bytes = variable.bytes;
        if (variable.initial.empty()) {
            clear_device(pointer, bytes);
        } else {
            write_device(pointer, variable.initial.data(), bytes);
        }
        module.variables.emplace(variable.name, std::make_pair(pointer, bytes));
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult library_module(Library& library, Context& context, Module*& out) {
    {
        std::lock_guard lock(library.mutex);
        if (const auto known = library.modules.find(&context); known != library.modules.end()) {
            out = known->second;
            return CUDA_SUCCESS;
        }
    }
    // Loading raises an event, so it is done with no lock held; of two threads that race the slower one gives
    // its module up.
    Module* made = nullptr;
    if (CUresult error = load_module(context, library.image, &library, made); error != CUDA_SUCCESS)
        return error;
    Module* spare = nullptr;
    {
        std::lock_guard lock(library.mutex);
        auto [entry, fresh] = library.modules.try_emplace(&context, made);
        if (!fresh) spare = made;
        out = entry->second;
    }
    if (spare != nullptr) {
        spare->library = nullptr;
        unload_module(*spare);
    }
    return CUDA_SUCCESS;
}

CUresult find_kernel(Library& library, std::string_view name, Kernel*& out) {
    {
        std::lock_guard lock(library.mutex);
        if (const auto known = library.kernels.find(name); known != library.kernels.end()) {
            out = known->second;
            return CUDA_SUCCESS;
        }
    }
    // A kernel belongs to no device; whether it exists is asked of the code for the current one.
    const VirtualDevice* device = device_or_null(current_device());
    if (device == nullptr) return CUDA_ERROR_NO_DEVICE;
    const DeviceCode* code = nullptr;
    if (CUresult error = library.image->code(*device, code); error != CUDA_SUCCESS) return error;
    if (!library.image->runtime_source() && code->by_name.find(name) == code->by_name.end())
        return CUDA_ERROR_NOT_FOUND;
    std::lock_guard lock(library.mutex);
    auto [entry, fresh] = library.kernels.try_emplace(std::string(name), nullptr);
    if (fresh) {
        auto* kernel = new Kernel();
        kernel->name = intern(name);
        kernel->library = &library;
        kernel->handle = static_cast<CUkernel>(handles<Kernel>().add(kernel));
        entry->second = kernel;
    }
    out = entry->second;
    return CUDA_SUCCESS;
}

CUresult kernel_function(Kernel& kernel, Context& context, Function*& out) {
    Function* last = kernel.last.load(std::memory_order_acquire);
    if (last != nullptr && last->context == &context) {
        out = last;
        return CUDA_SUCCESS;
    }
    Library* library = kernel.library;
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Module* module = nullptr;
    if (CUresult error = library_module(*library, context, module); error != CUDA_SUCCESS) return error;
    if (CUresult error = find_function(*module, kernel.name, out); error != CUDA_SUCCESS) return error;
    out->kernel = &kernel;
    kernel.last.store(out, std::memory_order_release);
    return CUDA_SUCCESS;
}

CUresult find_launched(CUfunction handle, Context& context, Function*& function) {
    if (Function* found = handles<Function>().get(handle)) {
        function = found;
        return CUDA_SUCCESS;
    }
    if (Kernel* kernel = handles<Kernel>().get(handle)) return kernel_function(*kernel, context, function);
    return CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace attnscope::vgpu
