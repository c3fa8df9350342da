"""Unmodified PyTorch over the stand-ins: what LibTorch asks of the CUDA runtime, one part after another.

Started with the stand-ins preloaded and two virtual H100s. Each part prints "part: ok" or its exception; the exit status
says whether all passed. Nothing is computed on a virtual GPU: what is checked is that the calls are accepted, what the
host wrote comes back, memory is accounted, and refusals are the real ones.
"""
import ctypes
import os
import sys
import traceback

try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(0)
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

PARTS = []


def part(function):
    PARTS.append(function)
    return function


@part
def properties():
    p = torch.cuda.get_device_properties(0)
    assert (p.name, p.major, p.minor, p.multi_processor_count) == ("NVIDIA H100 80GB HBM3", 9, 0, 132), p
    assert p.total_memory == 85018279936 and p.shared_memory_per_block_optin == 232448, p
    assert torch.cuda.device_count() == 2 and torch.cuda.get_device_capability(1) == (9, 0)
    assert torch.cuda.is_bf16_supported()


@part
def host_values_come_back():
    x = torch.arange(1000, dtype=torch.float32)
    assert torch.equal(x.cuda().cpu(), x)
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert torch.equal(pinned.to("cuda", non_blocking=True).cpu(), x)
    assert torch.equal(torch.zeros(10, device="cuda").cpu(), torch.zeros(10))


def attention(backend, dtype, backward):
    shape = (2, 8, 256, 64)
    q, k, v = (torch.randn(shape, device="cuda", dtype=dtype, requires_grad=backward) for _ in range(3))
    with sdpa_kernel(backend):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    if backward:
        out.sum().backward()
        assert q.grad.shape == q.shape
    torch.cuda.synchronize()


@part
def sdpa_flash():
    attention(SDPBackend.FLASH_ATTENTION, torch.bfloat16, True)


@part
def sdpa_efficient():
    attention(SDPBackend.EFFICIENT_ATTENTION, torch.bfloat16, True)
    attention(SDPBackend.EFFICIENT_ATTENTION, torch.float32, True)


@part
def sdpa_math():
    attention(SDPBackend.MATH, torch.bfloat16, True)


@part
def sdpa_cudnn():
    attention(SDPBackend.CUDNN_ATTENTION, torch.bfloat16, True)


@part
def sdpa_of_its_own_choice():
    attention([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], torch.float16, True)


@part
def flash_refused_by_the_grid():
    q = torch.randn(65536, 1, 16, 64, device="cuda", dtype=torch.bfloat16)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        try:
            F.scaled_dot_product_attention(q, q, q)
        except RuntimeError as error:
            assert "invalid configuration argument" in str(error), error
        else:
            raise AssertionError("a grid of 65,536 along y was accepted")


@part
def encoder_layer():
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(4, 128, 256, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    layer(x).sum().backward()
    optimizer = torch.optim.AdamW(layer.parameters(), fused=True)
    optimizer.step()
    layer.eval()
    with torch.inference_mode():
        layer(x.detach())


@part
def cuda_graph():
    x = torch.ones(1024, device="cuda")
    linear = torch.nn.Linear(1024, 1024, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        linear(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = torch.relu(linear(x)) + torch.rand(1024, device="cuda")
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    assert y.shape == (1024,)


@part
def random_numbers():
    torch.manual_seed(1)
    torch.randn(1 << 16, device="cuda")
    torch.randint(0, 10, (1000,), device="cuda")
    torch.randperm(1000, device="cuda")
    torch.bernoulli(torch.full((100,), 0.5, device="cuda"))
    F.dropout(torch.ones(1000, device="cuda"), 0.5)
    torch.empty(1000, device="cuda").normal_().exponential_().uniform_()
    torch.multinomial(torch.ones(10, device="cuda"), 4)


@part
def run_time_compiled():
    x = torch.rand(1000, device="cuda")
    torch.erfinv(x)
    torch.lgamma(x)
    torch.gcd(torch.arange(10, device="cuda"), torch.arange(10, device="cuda"))
    torch.nn.init.trunc_normal_(torch.empty(100, device="cuda"))


@part
def sort_and_search():
    x = torch.rand(64, 4096, device="cuda")
    torch.topk(x, 10)
    torch.topk(torch.rand(200000, device="cuda"), 100)
    torch.sort(x)
    torch.sort(torch.rand(1 << 20, device="cuda"))
    torch.argsort(x, stable=True)
    torch.cumsum(x, 1)
    torch.median(x)
    torch.kthvalue(x, 3)
    torch.nonzero(torch.zeros(100, device="cuda"))
    torch.unique(torch.zeros(100, device="cuda"))
    torch.searchsorted(torch.arange(10.0, device="cuda"), torch.rand(4, device="cuda"))
    torch.histc(x)
    x[:, torch.tensor([1, 2], device="cuda")]
    torch.scatter(x, 1, torch.zeros(64, 4, dtype=torch.long, device="cuda"), 1.0)


@part
def layers():
    x = torch.randn(8, 3, 64, 64, device="cuda", requires_grad=True)
    y = torch.nn.Conv2d(3, 16, 3, padding=1, device="cuda")(x)
    y = torch.nn.BatchNorm2d(16, device="cuda")(y)
    y = F.max_pool2d(F.gelu(y), 2)
    y = F.interpolate(y, scale_factor=2, mode="bilinear")
    y.mean().backward()
    table = torch.nn.Embedding(1000, 64, device="cuda")
    h = torch.nn.LayerNorm(64, device="cuda")(table(torch.randint(0, 1000, (4, 32), device="cuda")))
    logits = torch.nn.Linear(64, 1000, device="cuda")(h)
    F.cross_entropy(logits.view(-1, 1000), torch.randint(0, 1000, (128,), device="cuda")).backward()
    torch.nn.LSTM(64, 64, device="cuda")(h)


@part
def matrix_products():
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.complex64):
        a = torch.ones(64, 64, device="cuda", dtype=dtype)
        a @ a
        torch.bmm(a.expand(3, 64, 64), a.expand(3, 64, 64))
        torch.addmm(a, a, a)
        a @ a[0]
    torch.baddbmm(torch.ones(2, 4, 4, device="cuda"), torch.ones(2, 4, 8, device="cuda"), torch.ones(2, 8, 4, device="cuda"))


@part
def streams_and_events():
    streams = [torch.cuda.Stream(priority=-(i % 2)) for i in range(4)]
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    outs = []
    for stream in streams:
        with torch.cuda.stream(stream):
            outs.append(torch.ones(1000, device="cuda") * 2)
            outs[-1].record_stream(stream)
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)
    end.record()
    end.synchronize()
    assert end.query() and begin.elapsed_time(end) >= 0


@part
def two_devices():
    x = torch.arange(100, dtype=torch.float32)
    first = x.to("cuda:0")
    second = first.to("cuda:1", non_blocking=True)
    assert second.device.index == 1 and torch.equal(second.cpu(), x)
    with torch.cuda.device(1):
        torch.ones(10, device="cuda") * 2
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.can_device_access_peer(0, 1)


@part
def memory_statistics():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    free_before, total = torch.cuda.mem_get_info()
    x = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() - before == 1 << 30
    free_during, _ = torch.cuda.mem_get_info()
    # Expandable segments map 20 MiB at a time, and part of the first may be there already.
    slack = 20 << 20 if "expandable_segments" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "") else 0
    assert abs(free_before - free_during - (1 << 30)) <= slack, (free_before, free_during)
    del x
    assert torch.cuda.max_memory_allocated() - before == 1 << 30
    torch.cuda.memory_summary()
    if torch.cuda.get_allocator_backend() == "native":
        torch.cuda.memory_snapshot()
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info()[0] == free_before
    assert total == 85018279936


@part
def out_of_memory():
    try:
        torch.empty(100 << 30, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        assert "out of memory" in str(error)
    else:
        raise AssertionError("100 GiB on an 80 GB device")
    torch.ones(10, device="cuda")


@part
def amp_and_checkpoint():
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 64)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = torch.utils.checkpoint.checkpoint(model, torch.randn(8, 64, device="cuda"), use_reentrant=False).sum()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


class Diagnostic(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("severity", ctypes.c_char_p),
                ("code", ctypes.c_char_p), ("message", ctypes.c_char_p), ("remedy", ctypes.c_char_p)]


DIAGNOSTIC_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Diagnostic))


class Observer(ctypes.Structure):
    """AttnscopeVgpuObserver, of which only the diagnostics are asked for."""
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("user", ctypes.c_void_p),
                ("library_call", ctypes.c_void_p), ("uncomputed_read", ctypes.c_void_p),
                ("diagnostic", DIAGNOSTIC_FUNCTION), ("assumed_figure", ctypes.c_void_p)]


@part
def nothing_was_unsupported():
    """The last part: an observer is told of all that happened before."""
    found = []

    def note(_, diagnostic):
        d = diagnostic.contents
        found.append((d.severity.decode(), d.code.decode(), d.message.decode()))

    observer = Observer(size=ctypes.sizeof(Observer), diagnostic=DIAGNOSTIC_FUNCTION(note))
    set_observer = ctypes.CDLL(None).attnscopeVgpuSetObserver
    set_observer(ctypes.byref(observer))
    set_observer(None)
    for entry in found:
        print("  diagnostic:", *entry)
    assert not [entry for entry in found if entry[1] == "unsupported-function"], found


def main():
    import torch.utils.checkpoint  # noqa: F401
    chosen = sys.argv[1:]
    failed = 0
    for function in PARTS:
        if chosen and function.__name__ not in chosen:
            continue
        try:
            function()
            print(f"{function.__name__}: ok", flush=True)
        except Exception:
            failed += 1
            print(f"{function.__name__}: failed", flush=True)
            traceback.print_exc()
    print(f"{failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
