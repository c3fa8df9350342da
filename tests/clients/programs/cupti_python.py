"""NVIDIA's Python bindings of CUPTI as their documentation shows them: cupti_python.py activity|callbacks OUT.json"""
import json
import sys

from cupti import cupti

import workload


def kernel(r):
    return {"kind": "kernel", "correlation": r.correlation_id, "name": r.name, "registers": r.registers_per_thread,
            "grid": [r.grid_x, r.grid_y, r.grid_z], "block": [r.block_x, r.block_y, r.block_z],
            "static_shared": r.static_shared_memory, "dynamic_shared": r.dynamic_shared_memory,
            "local_per_thread": r.local_memory_per_thread}


def copy(r):
    return {"kind": "memcpy", "correlation": r.correlation_id, "bytes": r.bytes, "copy_kind": int(r.copy_kind)}


def memset(r):
    return {"kind": "memset", "correlation": r.correlation_id, "bytes": r.bytes, "value": r.value}


def call(r):
    domain = {cupti.ActivityKind.DRIVER: cupti.CallbackDomain.DRIVER_API,
              cupti.ActivityKind.RUNTIME: cupti.CallbackDomain.RUNTIME_API}[r.kind]
    return {"kind": "call", "correlation": r.correlation_id, "name": cupti.get_callback_name(domain, r.cbid)}


readers = {cupti.ActivityKind.CONCURRENT_KERNEL: kernel, cupti.ActivityKind.MEMCPY: copy,
           cupti.ActivityKind.MEMSET: memset, cupti.ActivityKind.RUNTIME: call, cupti.ActivityKind.DRIVER: call}


def activity():
    found = []
    workload.start()
    # Kinds are enabled for the whole process: another client's, here attnscope's external ids, come as well.
    cupti.activity_register_callbacks(
        lambda: (1 << 20, 0),
        lambda activities: found.extend(readers[a.kind](a) for a in activities if a.kind in readers))
    for kind in readers:
        cupti.activity_enable(kind)
    workload.work()
    cupti.activity_flush_all(0)
    for kind in readers:
        cupti.activity_disable(kind)
    return found


def callbacks():
    found = []

    def seen(user, domain, cbid, data):
        if domain == cupti.CallbackDomain.DRIVER_API and data.callback_site == cupti.ApiCallbackSite.API_EXIT:
            user.append({"correlation": data.correlation_id, "function": data.function_name,
                         "symbol": data.symbol_name if data.function_name.startswith("cuLaunchKernel") else ""})

    workload.start()
    subscriber = cupti.subscribe(seen, found)
    cupti.enable_domain(1, subscriber, cupti.CallbackDomain.DRIVER_API)
    workload.work()
    cupti.unsubscribe(subscriber)
    return found


records = {"activity": activity, "callbacks": callbacks}[sys.argv[1]]()
with open(sys.argv[2], "w") as out:
    json.dump({"cupti": cupti.get_version() if hasattr(cupti, "get_version") else None, "records": records}, out)
