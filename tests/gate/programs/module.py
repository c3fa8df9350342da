"""A user's attention module in one NVTX range, and the small changes that teams make to one."""
import argparse

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--by-hand", action="store_true", help="scores, mask, softmax instead of scaled_dot_product_attention")
parser.add_argument("--out-of-place", action="store_true", help="masked_fill instead of masked_fill_")
parser.add_argument("--contiguous", action="store_true", help="q, k and v are copied to be contiguous")
parser.add_argument("--no-cudnn", action="store_true")
a = parser.parse_args()

torch.backends.cuda.enable_cudnn_sdp(not a.no_cudnn)
# As a projection leaves them: (batch, length, heads, dim), looked at as (batch, heads, length, dim).
q, k, v = (torch.zeros(2, 128, 8, 64, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(3))
mask = torch.ones(128, 128, device="cuda", dtype=torch.bool).triu(1)


def attention(q, k, v):
    if a.contiguous:
        q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    if not a.by_hand:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    scores = (q @ k.transpose(-2, -1)) * 0.125
    scores = scores.masked_fill(mask, float("-inf")) if a.out_of_place else scores.masked_fill_(mask, float("-inf"))
    return scores.softmax(-1) @ v


attention(q, k, v)  # warm-up
torch.cuda.synchronize()
torch.cuda.nvtx.range_push("attention")
attention(q, k, v)
torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
