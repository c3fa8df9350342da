"""Attention, forward and backward, seen by PyTorch's own profiler or by an injected launch log: cupti_kineto.py profile|log FILE"""
import ctypes
import os
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile


def work():
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        q, k, v = (torch.randn(4, 16, 512, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        with sdpa_kernel(backend):
            scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
    x = torch.ones(64, 1024)
    (torch.softmax(x.to("cuda"), -1).cumsum(-1) + 1).cpu()
    torch.cuda.synchronize()


def profiled(path):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        work()
    seen.export_chrome_trace(path)


def logged():
    log = ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"])
    log.launch_log_restart()
    work()
    log.launch_log_flush()


work()  # lazy initialisation is over
if sys.argv[1] == "profile":
    profiled(sys.argv[2])
else:
    logged()
