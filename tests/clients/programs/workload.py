"""What every client here watches: attention by three backends, forward and backward, and a copy each way."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


def work(name="counted"):
    # A process range: the backward pass launches from a thread of its own.
    counted = torch.cuda.nvtx.range_start(name)
    q, k, v = (torch.randn(2, 8, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        with sdpa_kernel(backend):
            scaled_dot_product_attention(q, k, v, is_causal=True).backward(torch.ones_like(q))
    x = torch.ones(64, 1024).to("cuda")
    torch.softmax(x, -1).cpu()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_end(counted)


def start():
    """Everything that happens once in a process is over: the context, the libraries, their workspaces."""
    torch.cuda.init()
    work("start-up")


if __name__ == "__main__":
    start()
    work()
