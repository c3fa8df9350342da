#include "collectors/virtual_gpu/cupti/listener.h"

#include <cupti.h>

#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/cupti/activity_switches.h"
#include "collectors/virtual_gpu/cupti/callback_api.h"
#include "collectors/virtual_gpu/cupti/external_ids.h"
#include "collectors/virtual_gpu/cupti/faults.h"
#include "collectors/virtual_gpu/cupti/objects.h"
#include "collectors/virtual_gpu/cupti/range_profiler.h"
#include "collectors/virtual_gpu/cupti/records.h"
#include "collectors/virtual_gpu/cupti/threads.h"

namespace attnscope::vgpu::cupti {
namespace {

/// The driver calls that the runtime itself makes have no activity records: real traces show a launch through
/// the runtime once (h100-bert-small: 38 runtime launches and cuBLAS's own 22 driver launches are its 60
/// kernels). Their callbacks come all the same.
bool recorded(const ApiCall& call) {
    if (call.domain == ApiDomain::driver && call.outer && call.outer->domain == ApiDomain::runtime)
        return false;
    return api_wanted(static_cast<uint32_t>(call.domain), call.cbid, call.context_id);
}

void on_api_enter(ApiCall& call) {
    Thread& thread = this_thread();
    if (thread.silent) return;
    if (recorded(call)) {
        call.start_ns = now_ns();  // on the client's clock
        record_external_ids(thread, call.correlation);
    }
    if (!call.outer) thread.call_start_ns = call.start_ns;
    call_back(call, CUPTI_API_ENTER);
}

void on_api_exit(ApiCall& call) {
    Thread& thread = this_thread();
    if (thread.silent) return;
    call_back(call, CUPTI_API_EXIT);
    // A call that began before anybody listened has no start: no record.
    if (call.start_ns && recorded(call)) record_api_call(call, thread);
    if (!call.outer) thread.call_start_ns = 0;
}

void on_kernel(const KernelEvent& event) {
    record_kernel(event);
    count_kernel(event);
}

void on_synchronised(const SyncEvent& event) {
    if (this_thread().silent) return;
    record_synchronisation(event);
    const CUpti_SynchronizeData data{context_handle(event.context_id),
                                     stream_handle(event.context_id, event.stream_id)};
    if (event.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
        call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, &data);
    if (event.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
        call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, &data);
}

void on_resource(ResourceEvent event, void* context, uint32_t id, void* handle, uint32_t handle_id) {
    CUpti_ResourceData data{};
    data.context = static_cast<CUcontext>(context);
    CUpti_ModuleResourceData module{};
    const ContextObject owner{data.context, id};
    const StreamObject stream{static_cast<CUstream>(handle), handle_id, data.context, id};
    switch (event) {
        case ResourceEvent::context_created:
            add_context(owner);
            prepare_exit_fault();
            record_context(owner);
            return call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
        case ResourceEvent::context_destroy_starting:
            call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
            context_is_going(data.context);
            return remove_context(data.context);
        case ResourceEvent::stream_created:
            add_stream(stream);
            record_stream(stream, current_correlation());
            data.resourceHandle.stream = stream.handle;
            return call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, &data);
        case ResourceEvent::stream_destroy_starting:
            data.resourceHandle.stream = stream.handle;
            call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, &data);
            return remove_stream(stream.handle);
        case ResourceEvent::module_loaded:
        case ResourceEvent::module_unload_starting:
            // The cubin itself is not handed out: size 0.
            module.moduleId = handle_id;
            data.resourceDescriptor = &module;
            if (event == ResourceEvent::module_loaded) record_module(id, handle_id);
            return call_back(CUPTI_CB_DOMAIN_RESOURCE,
                             event == ResourceEvent::module_loaded
                                 ? CUPTI_CBID_RESOURCE_MODULE_LOADED
                                 : CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
                             &data);
    }
}

void on_driver_initialised() {
    record_devices();
    const CUpti_ResourceData data{};
    call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, &data);
}

constexpr Hooks objects_only = [] {
    Hooks hooks;
    hooks.resource = on_resource;
    hooks.driver_initialised = on_driver_initialised;
    return hooks;
}();

constexpr Hooks everything = [] {
    Hooks hooks = objects_only;
    hooks.api_enter = on_api_enter;
    hooks.api_exit = on_api_exit;
    hooks.kernel = on_kernel;
    hooks.copy = record_copy;
    hooks.set = record_memset;
    hooks.synchronised = on_synchronised;
    return hooks;
}();

// The library's load: before the program's first context.
const struct Start {
    Start() { refresh_hooks(); }
} start;

}  // namespace

void refresh_hooks() {
    const bool listening = anything_enabled() || anybody_subscribed() || any_session_started();
    set_hooks(listening ? &everything : &objects_only);
}

}  // namespace attnscope::vgpu::cupti
