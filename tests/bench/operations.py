"""LibTorch's operations, each with a launch: operations.py N [nvtx | profiler | OBSERVER.so]. Prints one JSON object.

An attention layer of a decoder at one token, in Python, as programs are written: what the operations cost beside their launches.
"""
import contextlib
import ctypes
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

layers = int(sys.argv[1])
watched_by = sys.argv[2] if len(sys.argv) > 2 else ""
x = torch.randn(4, 1, 256, device="cuda", dtype=torch.bfloat16)
w = torch.randn(768, 256, device="cuda", dtype=torch.bfloat16)
o = torch.randn(256, 256, device="cuda", dtype=torch.bfloat16)


def layer(x):
    q, k, v = (t.view(4, 1, 4, 64).transpose(1, 2) for t in F.linear(F.rms_norm(x, (256,)), w).chunk(3, -1))
    return x + F.linear(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 1, 256), o)


def watcher():
    """PyTorch's own ways to tell operations with their inputs, or a library that observes them."""
    if watched_by == "nvtx":
        return torch.autograd.profiler.emit_nvtx(record_shapes=True)
    if watched_by == "profiler":
        from torch.profiler import ProfilerActivity, profile
        return profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)
    if watched_by:
        ctypes.CDLL(watched_by).observe()
    return contextlib.nullcontext()


with watcher(), torch.no_grad():
    for _ in range(20):
        layer(x)
    torch.cuda.synchronize()
    walls, cpus = [], []
    for _ in range(max(1, layers // 50)):
        wall, cpu = time.perf_counter(), time.thread_time()
        for _ in range(50):
            layer(x)
        walls.append((time.perf_counter() - wall) / 50)
        cpus.append((time.thread_time() - cpu) / 50)
    torch.cuda.synchronize()
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
# Of one layer; the fastest and the median of fifties, so that what else the machine does counts little.
print(json.dumps({"loop_s": statistics.median(walls), "thread_cpu_s": statistics.median(cpus), "least_cpu_s": min(cpus), "peak_mb": peak}))
