"""A program of the user's: operations of many kinds. What it prints must not depend on whether attnscope asks LibTorch anything.

Ends with exit code 5.
"""
import hashlib
import sys
import threading
import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

bf16 = torch.bfloat16


def say(what, value):
    print(f"{what}: {value}", flush=True)


def state():
    """What asking must not change: the generator, and what the allocator was asked for."""
    stats = torch.cuda.memory_stats()
    return (hashlib.sha256(torch.cuda.get_rng_state().numpy().tobytes()).hexdigest()[:16],
            stats["allocation.all.allocated"], stats["requested_bytes.all.allocated"], stats["num_alloc_retries"])


torch.manual_seed(1)
q, k, v = (torch.randn(2, 4, 64, 32, device="cuda", dtype=bf16, requires_grad=True) for _ in range(3))
say("start", state())

torch.cuda.nvtx.range_push("the user's range")
for _ in range(3):
    F.scaled_dot_product_attention(q, k, v).sum().backward()
torch.cuda.nvtx.range_pop()
say("attention", state())

# Linear layers: backward has a function of its own for each; the weight is used twice.
x = torch.randn(48, 96, device="cuda")
weight = torch.randn(80, 96, device="cuda", requires_grad=True)
bias = torch.randn(80, device="cuda", requires_grad=True)
y = torch.tanh(F.linear(x[::2], weight, bias))
y.sum().backward()
say("linear", state())

# Undefined tensors, numbers, lists, strings, nothing in them.
F.layer_norm(x, (96,), None, None)
torch.cat([x, x[:, :0]], dim=1)
F.dropout(x, 0.25, training=True)
torch.empty(0, 96, device="cuda") @ x.t()
F.scaled_dot_product_attention(q[:, :, :0], k, v)
torch.div(x, 3, rounding_mode="floor")
say("odd arguments", state())

# Tensors whose sizes LibTorch does not hold itself.
nested = torch.nested.nested_tensor([torch.randn(3, 8, device="cuda"), torch.randn(5, 8, device="cuda")])
nested * 2
torch.randn(4, 4, device="cuda").to_sparse()


class Logged(torch.Tensor):
    """A wrapper: its operations are carried out on the tensor inside."""
    calls = []

    @staticmethod
    def __new__(cls, inner):
        wrapper = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        wrapper.inner = inner
        return wrapper

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(function.__name__)
        unwrap = torch.utils._pytree.tree_map
        inner = unwrap(lambda t: t.inner if isinstance(t, Logged) else t, (args, kwargs or {}))
        return unwrap(lambda t: Logged(t) if isinstance(t, torch.Tensor) else t, function(*inner[0], **inner[1]))


wrapped = Logged(torch.randn(2, 4, 64, 32, device="cuda", dtype=bf16))
F.scaled_dot_product_attention(wrapped, wrapped, wrapped)
say("wrapper saw", Logged.calls)
torch.func.vmap(F.scaled_dot_product_attention)(*(t.detach()[None].expand(3, -1, -1, -1, -1) for t in (q, k, v)))
with torch.autocast("cuda", dtype=bf16):
    F.scaled_dot_product_attention(*(t.detach().float() for t in (q, k, v)))
say("wrappers", state())

# Sizes beyond 32 bits; 2^62 elements, which as bytes are beyond 64.
wide = torch.empty(1, device="cuda").expand(2**33, 2**29)
wide.t()
torch.empty(2**34, 3, device="meta") * 2
huge = torch.empty(1, 1, 1, 64, device="cuda", dtype=bf16).expand(2**20, 2**20, 2**16, 64)
try:
    F.scaled_dot_product_attention(huge, huge, huge)
except RuntimeError as error:
    say("huge", str(error).splitlines()[0])

# LibTorch's warnings are the program's alone: as many as without attnscope.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
            F.scaled_dot_product_attention(q.detach().float(), k.detach().float(), v.detach().float())
    except RuntimeError as error:
        say("refused", str(error).splitlines()[0])
say("warnings", sorted(str(w.message) for w in caught))

# Four threads, each with matrices of its own size.
matrices = [torch.randn(16 * (i + 1), 16 * (i + 1), device="cuda") for i in range(4)]
errors = []


def multiply(matrix):
    try:
        for _ in range(25):
            torch.relu(matrix)
    except Exception as error:  # noqa: BLE001: whatever it is, the test wants to see it
        errors.append(error)


threads = [threading.Thread(target=multiply, args=(m,)) for m in matrices]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
say("threads", errors)
torch.cuda.synchronize()
say("end", state())
sys.exit(5)
