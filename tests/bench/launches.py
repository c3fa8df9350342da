"""The launch loop inside a PyTorch program: launches.py LIBRARY N [profiler]. Prints one JSON object."""
import ctypes
import json
import sys
import time

import torch


class LoopTime(ctypes.Structure):
    _fields_ = [("wall_s", ctypes.c_double), ("cpu_s", ctypes.c_double)]


loop = ctypes.CDLL(sys.argv[1])
launches = int(sys.argv[2])
taken = LoopTime()
torch.cuda.init()
loop.bench_start()
result = {}
if len(sys.argv) > 3:
    from torch.profiler import ProfilerActivity, profile
    # The GPU's activity alone, as attnscope records it, and nothing that Python does with the events afterwards:
    # PyTorch's profiler at its cheapest.
    profiler = profile(activities=[ProfilerActivity.CUDA])
    profiler.start()
    loop.bench_launches(ctypes.c_long(launches), ctypes.byref(taken))
    profiler.stop()
    # The check that nothing was lost is not the profiler's work.
    stopped = time.monotonic(), time.process_time()
    events = profiler.profiler.kineto_results.events()
    result["kernels"] = sum(e.name() == "count_me(int*, int)" for e in events)
    result["check_wall_s"] = time.monotonic() - stopped[0]
    result["check_cpu_s"] = time.process_time() - stopped[1]
else:
    loop.bench_launches(ctypes.c_long(launches), ctypes.byref(taken))
with open("/proc/self/status") as status:  # of this program alone: getrusage counts what ran before exec
    result["peak_mb"] = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
print(json.dumps({**result, "loop_s": taken.wall_s, "thread_cpu_s": taken.cpu_s}))
