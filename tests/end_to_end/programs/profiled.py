"""Attention forward and backward; with a file name, under PyTorch's profiler, whose trace goes there."""
import sys

import torch


def work():
    q, k, v = (torch.randn(2, 8, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    for backend in (torch.nn.attention.SDPBackend.FLASH_ATTENTION, torch.nn.attention.SDPBackend.MATH):
        with torch.nn.attention.sdpa_kernel(backend):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).backward(torch.ones_like(q))
    torch.cuda.synchronize()


torch.cuda.init()
if len(sys.argv) > 1:
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        work()
    profiler.export_chrome_trace(sys.argv[1])
else:
    work()
