"""Attention calls with work around their kernels: what the allocator is asked for in the whole call and in the kernel's own operation.

One JSON line a case. The difference of the two is the hidden work; math has no operation of its own, so its parts are told by the
operations inside (schema/README.md names them).
"""
import json

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

bf16, fp32 = torch.bfloat16, torch.float32
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION,
            "math": SDPBackend.MATH}


def qkv(batch=2, heads=4, kv_heads=None, queries=128, keys=None, dim=64, dtype=bf16, transposed=False, stride=1):
    def one(heads, length):
        shape = (batch, length, heads, dim * stride) if transposed else (batch, heads, length, dim * stride)
        t = torch.empty(shape, dtype=dtype, device="cuda")
        return (t.transpose(1, 2) if transposed else t)[..., ::stride]
    return one(heads, queries), one(kv_heads or heads, keys or queries), one(kv_heads or heads, keys or queries)


def boolean(*shape):
    return torch.ones(shape, dtype=torch.bool, device="cuda")


CASES = [
    ("flash", "plain", {}, {}),
    ("flash", "pad", {"dim": 60}, {}),
    ("flash", "pad_gqa", {"dim": 61, "kv_heads": 2, "transposed": True}, {"enable_gqa": True}),
    ("efficient", "plain", {}, {"is_causal": True}),
    ("efficient", "bool", {}, {"attn_mask": boolean(128, 128)}),
    ("efficient", "bool_odd", {"queries": 120, "keys": 125}, {"attn_mask": boolean(120, 125)}),
    ("efficient", "bool_expanded", {}, {"attn_mask": boolean(128, 128).expand(2, 4, 128, 128)}),
    ("efficient", "bool_expanded_odd", {"queries": 125}, {"attn_mask": boolean(125, 125).expand(2, 4, 125, 125)}),
    ("efficient", "additive", {}, {"attn_mask": torch.zeros(128, 128, dtype=bf16, device="cuda")}),
    ("efficient", "additive_odd", {"queries": 125}, {"attn_mask": torch.zeros(125, 125, dtype=bf16, device="cuda")}),
    ("efficient", "additive_rows_unaligned", {}, {"attn_mask": torch.zeros(128, 132, dtype=bf16, device="cuda")[:, :128]}),
    ("cudnn", "bool", {}, {"attn_mask": boolean(128, 128)}),
    ("cudnn", "plain", {}, {"is_causal": True}),
    ("math", "plain", {}, {}),
    ("math", "causal", {}, {"is_causal": True}),
    ("math", "fp32_causal", {"dtype": fp32}, {"is_causal": True}),
    ("math", "fp32", {"dtype": fp32}, {}),
    ("math", "bool", {}, {"attn_mask": boolean(128, 128)}),
    ("math", "gqa", {"kv_heads": 2}, {"enable_gqa": True}),
    ("math", "gqa_transposed", {"kv_heads": 2, "transposed": True}, {"enable_gqa": True}),
    ("math", "transposed", {"transposed": True}, {}),
    ("math", "transposed_fp32", {"transposed": True, "dtype": fp32}, {}),
    ("math", "one_batch_transposed", {"batch": 1, "transposed": True}, {}),
    ("math", "strided", {"stride": 2}, {}),
    ("math", "strided_fp32", {"stride": 2, "dtype": fp32}, {}),
    ("math", "reduced", {"queries": 72}, {"is_causal": True}),
]


def requested():
    return torch.cuda.memory_stats()["requested_bytes.all.allocated"]


class Requests(torch.utils._python_dispatch.TorchDispatchMode):
    """What each operation below the composite ones asks the allocator for."""
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        before = requested()
        out = function(*args, **(kwargs or {}))
        self.seen.append((function._schema.name, requested() - before, out))
        return out


F.scaled_dot_product_attention(*qkv(queries=8))  # what LibTorch makes once
for backend, name, shape, extra in CASES:
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(name == "reduced")
    tensors = qkv(**shape)
    with sdpa_kernel([BACKENDS[backend]]), torch.no_grad():
        before = requested()
        F.scaled_dot_product_attention(*tensors, **extra)
        whole = requested() - before
        mode = Requests()
        mode.seen = []
        with mode:
            F.scaled_dot_product_attention(*tensors, **extra)
    print(json.dumps({"case": f"{backend}_{name}", "backend": backend, "whole": whole,
                      "parts": [[n, b] for n, b, _ in mode.seen]}), flush=True)
torch.cuda.synchronize()
