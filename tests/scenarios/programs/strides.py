"""Attention on views: a stride of a dimension of one element, which matters to nobody, and of the last dimension."""
import sys

import torch
from torch.nn.functional import scaled_dot_product_attention

tensor = torch.zeros(1, 4, 128, 64, device="cuda", dtype=torch.bfloat16)
if sys.argv[1] == "singleton":
    q = torch.as_strided(tensor, (1, 4, 128, 64), (7, 128 * 64, 64, 1))
else:
    q = torch.zeros(1, 4, 64, 128, device="cuda", dtype=torch.bfloat16).transpose(-2, -1)
scaled_dot_product_attention(q, q, q)
torch.cuda.synchronize()
