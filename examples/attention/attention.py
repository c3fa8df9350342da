#!/usr/bin/env python3
"""The attention workload for whatever torch the user has: the same problem, implementations and marks as the C++ program.

Run it under `attnscope collect -- python3 attention.py [options]`; the marks are described in schema/README.md.
"""
import argparse
import contextlib
import json
import math
import os
import re
import sys
import tempfile
import warnings

BACKENDS = ["math", "efficient", "flash", "cudnn"]
NAMES = ["naive", "naive_inplace"] + ["sdpa_" + b for b in BACKENDS] + ["sdpa_auto"]


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def parse(arguments):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--batch", type=positive, default=8)
    p.add_argument("--heads", type=positive, default=16)
    p.add_argument("--kv-heads", type=positive, help="key and value heads (default: as many as --heads)")
    p.add_argument("--seq", "--query-length", dest="query_length", type=positive, default=1024)
    p.add_argument("--key-length", type=positive, help="default: the query length")
    p.add_argument("--head-dim", type=positive, default=64)
    p.add_argument("--dtype", choices=["bf16", "fp16", "fp32"], default="bf16")
    p.add_argument("--causal", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--mask", choices=["none", "bool", "additive", "expanded", "repeated"], default="none")
    p.add_argument("--transposed", action="store_true", help="q, k, v are transposed views of (batch, length, heads, dim)")
    p.add_argument("--last-stride", type=positive, default=1, help="stride of the last dimension of q, k and v")
    p.add_argument("--contiguous", action="store_true", help="copy q, k and v to be contiguous before each attention")
    p.add_argument("--repeat-kv", action="store_true", help="repeat keys and values by hand instead of enable_gqa")
    p.add_argument("--backward", action="store_true")
    p.add_argument("--dropout", type=float, default=0.0, help="probability")
    p.add_argument("--layers", type=positive, default=1, help="attention layers in an iteration, one after another")
    p.add_argument("--deterministic", action="store_true", help="deterministic algorithms alone")
    p.add_argument("--reduced-precision-math", action="store_true", help="the math backend may stay in 16 bits")
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--iterations", type=positive, default=1)
    p.add_argument("--only", help="only these implementations, separated by commas: " + ", ".join(NAMES))
    p.add_argument("--choice-only", action="store_true", help="only ask which backend is chosen, and why not the others")
    p.add_argument("--seed", type=int, default=0)
    o = p.parse_args(arguments)
    o.kv_heads = o.kv_heads or o.heads
    o.key_length = o.key_length or o.query_length
    o.only = o.only.split(",") if o.only else NAMES
    if o.heads % o.kv_heads:
        p.error(f"--heads {o.heads} is not a multiple of --kv-heads {o.kv_heads}")
    if o.causal and o.mask != "none":
        p.error("--mask and --causal exclude each other in scaled_dot_product_attention: add --no-causal")
    if not 0 <= o.dropout < 1:
        p.error(f"--dropout {o.dropout} is not a probability below 1")
    for name in o.only:
        if name not in NAMES:
            p.error(f"unknown implementation '{name}': one of {', '.join(NAMES)}")
    return o


def mark(kind, content):
    torch.cuda.nvtx.mark(f"attnscope.{kind} {json.dumps(content)}")


@contextlib.contextmanager
def process_range(name):
    """Process-wide: autograd's threads launch inside it too."""
    handle = torch.cuda.nvtx.range_start(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_end(handle)


def dtype_of(o):
    return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[o.dtype]


def query_key_value(o, create):
    def heads(count, length):
        wide = o.head_dim * o.last_stride
        if o.transposed:
            t = create(o.batch, length, count, wide, device="cuda", dtype=dtype_of(o)).transpose(1, 2)
        else:
            t = create(o.batch, count, length, wide, device="cuda", dtype=dtype_of(o))
        if o.last_stride != 1:
            t = t[..., ::o.last_stride]
        return t.requires_grad_(o.backward)

    return heads(o.heads, o.query_length), heads(o.kv_heads, o.key_length), heads(o.kv_heads, o.key_length)


def make_inputs(o):
    torch.manual_seed(o.seed)
    dtype = dtype_of(o)
    q, k, v = query_key_value(o, torch.randn)
    shape = (o.query_length, o.key_length)
    mask = hidden = None
    if o.causal:
        hidden = torch.ones(shape, device="cuda", dtype=torch.bool).triu(1)
    if o.mask in ("bool", "expanded", "repeated"):
        mask = torch.ones(shape, device="cuda", dtype=torch.bool).tril()
        hidden = mask.logical_not()
        if o.mask == "expanded":
            mask = mask.expand(o.batch, o.heads, *shape)
        elif o.mask == "repeated":
            mask = mask.repeat(o.batch, o.heads, 1, 1)
    elif o.mask == "additive":
        mask = torch.zeros(shape, device="cuda", dtype=dtype)
    gradient = torch.ones(o.batch, o.heads, o.query_length, o.head_dim, device="cuda", dtype=dtype) if o.backward else None
    return q, k, v, mask, hidden, gradient


def repeat_heads(t, o):
    return t if o.kv_heads == o.heads else t.repeat_interleave(o.heads // o.kv_heads, 1)


def naive(q, k, v, mask, hidden, o, in_place):
    scores = torch.matmul(q, repeat_heads(k, o).transpose(-2, -1))
    scores = scores * (1.0 / math.sqrt(o.head_dim))
    if hidden is not None:
        # The one difference between the two: out of place clones the score matrix before masking it.
        scores = scores.masked_fill_(hidden, -math.inf) if in_place else scores.masked_fill(hidden, -math.inf)
    elif mask is not None:
        scores = scores.add_(mask) if in_place else scores + mask
    weights = torch.softmax(scores, -1)
    if o.dropout:
        weights = torch.dropout(weights, o.dropout, True)
    return torch.matmul(weights, repeat_heads(v, o))


def enable_gqa(o):
    return o.kv_heads != o.heads and not o.repeat_kv


def sdpa(q, k, v, mask, o):
    if o.repeat_kv:
        k, v = repeat_heads(k, o), repeat_heads(v, o)
    extra = {"enable_gqa": True} if enable_gqa(o) else {}
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, dropout_p=o.dropout, is_causal=o.causal, **extra)


@contextlib.contextmanager
def unwritten():
    """torch.empty launches nothing, under deterministic algorithms either (since torch 2.2 it fills there)."""
    switch = getattr(torch.utils, "deterministic", None)
    fills = getattr(switch, "fill_uninitialized_memory", False)
    if fills:
        switch.fill_uninitialized_memory = False
    try:
        yield
    finally:
        if fills:
            switch.fill_uninitialized_memory = True


def make_unwritten(o):
    """Query, key, value and mask to ask with, not to compute: nothing is launched."""
    with unwritten():
        mask = None
        whole = (o.batch, o.heads, o.query_length, o.key_length)
        if o.mask != "none":
            mask = torch.empty(whole if o.mask == "repeated" else whole[2:], device="cuda",
                               dtype=dtype_of(o) if o.mask == "additive" else torch.bool)
            mask = mask.expand(whole) if o.mask == "expanded" else mask
        return *query_key_value(o, torch.empty), mask


def asked(inputs, o):
    """The tensors as scaled_dot_product_attention gets them, to ask LibTorch with: nothing is launched."""
    q, k, v, mask = inputs[:4]

    def dense(t, *shape):
        return torch.empty(shape, dtype=t.dtype, device=t.device, requires_grad=t.requires_grad)

    with unwritten():
        if o.contiguous:
            q, k, v = (dense(t, *t.shape) for t in (q, k, v))
        if o.repeat_kv and o.kv_heads != o.heads:
            k, v = (dense(t, o.batch, o.heads, o.key_length, o.head_dim) for t in (k, v))
    return q, k, v, mask


@contextlib.contextmanager
def only_backend(backend):
    """Allows exactly this backend ("auto" and "": LibTorch's defaults)."""
    switches = {b: getattr(torch.backends.cuda, f) for b, f in [
        ("flash", "enable_flash_sdp"), ("efficient", "enable_mem_efficient_sdp"),
        ("math", "enable_math_sdp"), ("cudnn", "enable_cudnn_sdp")] if hasattr(torch.backends.cuda, f)}
    if backend in BACKENDS:
        for name, switch in switches.items():
            switch(name == backend)
    try:
        yield
    finally:
        for switch in switches.values():
            switch(True)


def collect_warnings(function):
    """The function's result, and LibTorch's warnings meanwhile: as Python warnings, or where a binding does not pass them on,
    as the lines that c10 writes to file descriptor 2."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # else a reason asked for twice is given once
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as captured, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        os.dup2(captured.fileno(), 2)
        try:
            result = function()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            torch.set_warn_always(always)
        captured.seek(0)
        lines = captured.read().decode(errors="replace").splitlines()
    sentences = [str(w.message).split(" (Triggered internally")[0] for w in caught]
    for line in lines:
        found = re.search(r"\] Warning: (.*?)( \(function \S+\))?$", line)
        if found:
            sentences.append(found.group(1))
        else:
            print(line, file=sys.stderr)  # not ours
    return result, " ".join(dict.fromkeys(sentences))


def refusal(backend, inputs, o):
    """Why LibTorch refuses this backend, in its words; "" when it does not."""
    check = {"flash": "can_use_flash_attention", "efficient": "can_use_efficient_attention",
             "cudnn": "can_use_cudnn_attention"}.get(backend)
    if check is None or not hasattr(torch.backends.cuda, check):
        return ""
    q, k, v, mask = asked(inputs, o)
    params = torch.backends.cuda.SDPAParams(q, k, v, mask, o.dropout, o.causal, enable_gqa(o))
    usable, reasons = collect_warnings(lambda: getattr(torch.backends.cuda, check)(params, True))
    return "" if usable else reasons or "refused, LibTorch gives no reason"


def ask_choice(inputs, o):
    names = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}
    q, k, v, mask = asked(inputs, o)
    extra = {"enable_gqa": True} if enable_gqa(o) else {}
    chosen, _ = collect_warnings(lambda: torch._fused_sdp_choice(q, k, v, mask, o.dropout, o.causal, **extra))
    choice = {"chosen": names.get(int(chosen), "none"), "refused": {}}
    order = getattr(torch._C, "_get_sdp_priority_order", None)
    if order is not None:
        choice["order"] = [names.get(int(b), "none") for b in order()]
    for backend in ("flash", "efficient", "cudnn"):
        reason = refusal(backend, inputs, o)
        if reason:
            choice["refused"][backend] = reason
    return choice


def compute(name, inputs, o):
    q, k, v, mask, hidden, gradient = inputs
    for leaf in (q, k, v):
        leaf.grad = None  # else the second iteration adds to the first one's gradients
    with torch.set_grad_enabled(o.backward):
        x = q
        for _ in range(o.layers):
            layer = [t.contiguous() for t in (x, k, v)] if o.contiguous else [x, k, v]
            if name.startswith("naive"):
                x = naive(*layer, mask, hidden, o, name == "naive_inplace")
            else:
                x = sdpa(*layer, mask, o)
        output = x
        if o.backward:
            output.backward(gradient)
    torch.cuda.synchronize()
    return output.detach()


def run(name, inputs, o):
    backend = name[5:] if name.startswith("sdpa_") else ""
    result = {"name": name}
    if backend:
        result["backend"] = backend
    output = None
    with only_backend(backend):
        reason = refusal(backend, inputs, o)
        if reason:
            return {**result, "status": "refused", "reason": reason}, None
        try:
            with process_range(f"attnscope.implementation/{name}"):
                for _ in range(o.warmup):
                    with process_range("attnscope.warmup"):
                        compute(name, inputs, o)
                torch.cuda.reset_peak_memory_stats()
                result["allocated_before_bytes"] = torch.cuda.memory_allocated()
                for _ in range(o.iterations):
                    with process_range("attnscope.iteration"):
                        output = compute(name, inputs, o)
                result["peak_allocated_bytes"] = torch.cuda.max_memory_allocated()
            result["status"] = "ran"
        except RuntimeError as e:
            result.update(status="failed", reason=str(e).split("\n")[0])
    return result, output


def compare(results, outputs):
    """Equal results first, speed second. The records are written again, completed: a reader keeps the last."""
    if not outputs:
        return
    reference = "sdpa_math" if "sdpa_math" in outputs else next(iter(outputs))
    for result in results:
        name = result["name"]
        if name not in outputs:
            continue
        finite = outputs[name].isfinite()
        result["non_finite_elements"] = (~finite).sum().item()
        if name != reference:
            both = finite & outputs[reference].isfinite()
            result["max_abs_difference"] = (outputs[name] - outputs[reference]).abs().masked_fill(~both, 0).max().item()
            result["compared_with"] = reference
        mark("implementation", result)


def main(arguments):
    o = parse(arguments)
    if not torch.cuda.is_available():
        print("attention.py: no CUDA device is visible: run it under `attnscope collect --device virtual:H100-SXM5 --`",
              file=sys.stderr)
        return 2
    mark("workload", {key: getattr(o, key) for key in (
        "batch", "heads", "kv_heads", "query_length", "key_length", "head_dim", "dtype", "causal", "mask", "transposed",
        "last_stride", "contiguous", "repeat_kv", "backward", "dropout", "layers", "deterministic", "reduced_precision_math",
        "warmup", "iterations")} | {"torch": torch.__version__, "language": "python"})
    torch.use_deterministic_algorithms(o.deterministic)
    if o.reduced_precision_math:
        torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    if o.choice_only:
        mark("choice", ask_choice(make_unwritten(o), o))
        return 0
    inputs = make_inputs(o)
    mark("choice", ask_choice(inputs, o))
    results, outputs = [], {}
    for name in (n for n in NAMES if n in o.only):
        result, output = run(name, inputs, o)
        # Values exist only where kernels really run; the virtual GPU computes nothing.
        if result["status"] == "ran" and "ATTNSCOPE_VIRTUAL_DEVICES" not in os.environ:
            outputs[name] = output.float().cpu()
        output = None
        print(f"{name:<15} {result['status']}" + (f": {result['reason']}" if "reason" in result else ""), flush=True)
        mark("implementation", result)
        results.append(result)
    compare(results, outputs)
    return 0 if any(r["status"] == "ran" for r in results) else 1


if __name__ == "__main__":
    try:
        import torch
    except ImportError as error:
        sys.exit(f"attention.py: {error}: install PyTorch, or use a Python that has it")
    sys.exit(main(sys.argv[1:]))
