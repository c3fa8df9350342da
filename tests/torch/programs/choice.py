"""Attention calls of every kind: what torch itself says of each, one JSON line a case, and then the call.

usage: choice.py WORKLOAD.py   (the attention workload: how it gathers LibTorch's warnings is used here too)
"""
import contextlib
import importlib.util
import json
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

spec = importlib.util.spec_from_file_location("workload", sys.argv[1])
workload = importlib.util.module_from_spec(spec)
spec.loader.exec_module(workload)
workload.torch = torch

NAMES = {-1: "none", 0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}


def qkv(batch=2, heads=8, kv_heads=None, queries=128, keys=None, dim=64, value_dim=None, dtype=torch.bfloat16,
        stride=1, transposed=False, grad=False, device="cuda"):
    def one(heads, length, dim):
        shape = (batch, length, heads, dim * stride) if transposed else (batch, heads, length, dim * stride)
        t = torch.empty(shape, dtype=dtype, device=device)
        t = t.transpose(1, 2) if transposed else t
        return t[..., ::stride].requires_grad_(grad)

    kv_heads, keys = kv_heads or heads, queries if keys is None else keys
    return one(heads, queries, dim), one(kv_heads, keys, dim), one(kv_heads, keys, value_dim or dim)


def mask(*shape, dtype=torch.bool, grad=False):
    return torch.zeros(shape, dtype=dtype, device="cuda").requires_grad_(grad)


@contextlib.contextmanager
def switch(function, value, back):
    function(value)
    try:
        yield
    finally:
        function(back)


def deterministic():
    return switch(torch.use_deterministic_algorithms, True, False)


def no_flash():
    return switch(torch.backends.cuda.enable_flash_sdp, False, True)


bf16, fp16, fp32 = torch.bfloat16, torch.float16, torch.float32
# name, arguments of qkv, further arguments of the call, a context
CASES = [
    ("plain", {}, {}),
    ("causal", {}, {"is_causal": True}),
    ("causal_unequal", {"keys": 192}, {"is_causal": True}),
    ("gqa", {"kv_heads": 2}, {"enable_gqa": True}),
    ("gqa_mask", {"kv_heads": 2}, {"enable_gqa": True, "attn_mask": (128, 128)}),
    ("heads_differ", {"kv_heads": 1}, {}),
    ("mask_bool", {}, {"attn_mask": (128, 128)}),
    ("mask_additive", {}, {"attn_mask": (128, 128), "mask_dtype": bf16}),
    ("mask_gradient", {}, {"attn_mask": (128, 128), "mask_dtype": bf16, "mask_grad": True}),
    ("mask_odd", {"queries": 127}, {"attn_mask": (127, 127)}),
    ("fp16", {"dtype": fp16}, {}),
    ("fp32", {"dtype": fp32}, {}),
    ("fp32_mask", {"dtype": fp32}, {"attn_mask": (128, 128)}),
    ("fp64", {"dtype": torch.float64}, {}),
    ("head_dim_60", {"dim": 60}, {}),
    ("head_dim_60_fp32", {"dim": 60, "dtype": fp32}, {}),
    ("head_dim_61", {"dim": 61}, {}),
    ("head_dim_128", {"dim": 128}, {}),
    ("head_dim_192_128", {"dim": 192, "value_dim": 128}, {}),
    ("head_dim_256", {"dim": 256}, {}),
    ("head_dim_257", {"dim": 257}, {}),
    ("head_dim_264", {"dim": 264}, {}),
    ("gradient", {"grad": True}, {}),
    ("gradient_224", {"dim": 224, "grad": True}, {}),
    ("gradient_256", {"dim": 256, "grad": True}, {}),
    ("gradient_256_dropout", {"dim": 256, "grad": True}, {"dropout_p": 0.1}),
    ("dropout", {}, {"dropout_p": 0.1}),
    ("strided", {"stride": 2}, {}),
    ("strided_fp16_mask", {"stride": 2, "dtype": fp16}, {"attn_mask": (128, 128)}),
    ("transposed", {"transposed": True}, {}),
    ("one_query", {"queries": 1, "keys": 128}, {}),
    ("one_query_dropout", {"queries": 1, "keys": 128}, {"dropout_p": 0.1}),
    ("one_key", {"queries": 128, "keys": 1}, {}),
    ("no_query", {"queries": 0, "keys": 128}, {}),
    ("no_batch", {"batch": 0}, {}),
    ("rank_3", {"rank": 3}, {}),
    ("deterministic", {"queries": 64}, {}, deterministic),
    ("flash_off", {"queries": 72}, {}, no_flash),
    ("order_set", {"queries": 80}, {}, lambda: sdpa_kernel(
        [SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.FLASH_ATTENTION], set_priority=True)),
    ("only_flash_with_mask", {"queries": 88}, {"attn_mask": (88, 88)}, lambda: sdpa_kernel([SDPBackend.FLASH_ATTENTION])),
]


def ask(q, k, v, attn_mask, dropout, causal, grouped):
    answer = {"refused": {}}
    try:
        chosen, _ = workload.collect_warnings(lambda: torch._fused_sdp_choice(
            q, k, v, attn_mask, dropout, causal, **({"enable_gqa": True} if grouped else {})))
    except RuntimeError:
        chosen = -1
    answer["chosen"] = NAMES[int(chosen)]
    answer["order"] = [NAMES[int(b)] for b in torch._C._get_sdp_priority_order()]
    params = torch.backends.cuda.SDPAParams(q, k, v, attn_mask, dropout, causal, grouped)
    for backend, can_use in (("flash", torch.backends.cuda.can_use_flash_attention),
                             ("efficient", torch.backends.cuda.can_use_efficient_attention),
                             ("cudnn", torch.backends.cuda.can_use_cudnn_attention)):
        usable, reasons = workload.collect_warnings(lambda: can_use(params, True))
        if not usable:
            answer["refused"][backend] = reasons
    return answer


for name, shape, extra, *context in CASES:
    shape, extra = dict(shape), dict(extra)
    rank = shape.pop("rank", 4)
    tensors = [t[0] if rank == 3 else t for t in qkv(**shape)]
    attn_mask = extra.pop("attn_mask", None)
    kind = {"dtype": extra.pop("mask_dtype", torch.bool), "grad": extra.pop("mask_grad", False)}
    if attn_mask is not None:
        attn_mask = mask(*attn_mask, **kind)
    with context[0]() if context else contextlib.nullcontext():
        answer = ask(*tensors, attn_mask, extra.get("dropout_p", 0.0), extra.get("is_causal", False),
                     extra.get("enable_gqa", False))
        print(json.dumps({"case": name, **answer}), flush=True)
        with torch.autograd.profiler.record_function(name):  # not an operation: attnscope does not see it
            try:
                workload.collect_warnings(lambda: torch.nn.functional.scaled_dot_product_attention(
                    *tensors, attn_mask=attn_mask, **extra))
            except RuntimeError as error:
                print(f"{name}: {error}", file=sys.stderr)
