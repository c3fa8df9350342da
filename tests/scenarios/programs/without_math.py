"""Attention with math left out of the list, as a program does that would rather fail than be slow."""
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}[sys.argv[1]]
grouped = sys.argv[2] == "grouped"
q = torch.zeros(1, 8, 128, 64, device="cuda", dtype=dtype)
k = torch.zeros(1, 2 if grouped else 8, 128, 64, device="cuda", dtype=dtype)
mask = torch.ones(128, 128, device="cuda", dtype=torch.bool).tril() if grouped else None
with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
    try:
        scaled_dot_product_attention(q, k, k, attn_mask=mask, enable_gqa=grouped)
    except RuntimeError as error:
        sys.exit(f"{error}")
