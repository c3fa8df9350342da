# What LibTorch does with NVIDIA's libraries, operation by operation: "ok NAME" or "error NAME: MESSAGE" each. Run on the virtual GPU.
import sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

device = "cuda"


def matmul(dtype):
    a = torch.empty(96, 64, device=device, dtype=dtype)
    b = torch.empty(64, 32, device=device, dtype=dtype)
    return lambda: a @ b


def bmm():
    return torch.bmm(torch.empty(5, 7, 16, device=device), torch.empty(5, 16, 3, device=device))


def linear():
    layer = torch.nn.Linear(64, 128, device=device, dtype=torch.bfloat16)
    x = torch.empty(32, 64, device=device, dtype=torch.bfloat16, requires_grad=True)
    layer(x).sum().backward()


def attention(causal):
    def run():
        q, k, v = (torch.empty(2, 4, 256, 64, device=device, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            F.scaled_dot_product_attention(q, k, v, is_causal=causal).sum().backward()
    return run


def attention_with_mask():
    q, k, v = (torch.empty(2, 4, 128, 64, device=device, dtype=torch.float16) for _ in range(3))
    mask = torch.empty(2, 1, 128, 128, device=device, dtype=torch.float16)
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def recurrent(kind, **options):
    def run():
        net = kind(10, 20, num_layers=2, device=device, **options)
        net(torch.empty(5, 3, 10, device=device))[0].sum().backward()
    return run


def convolution():
    conv = torch.nn.Conv2d(8, 16, 3, padding=1, device=device)
    x = torch.empty(2, 8, 16, 16, device=device, requires_grad=True)
    conv(x).sum().backward()


def batch_norm():
    bn = torch.nn.BatchNorm2d(8, device=device)
    x = torch.empty(2, 8, 16, 16, device=device, requires_grad=True)
    bn(x).sum().backward()


def tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.empty(8, 8, device=device) @ torch.empty(8, 8, device=device)
    torch.backends.cuda.matmul.allow_tf32 = False


def scaled_fp8():
    a = torch.empty(32, 64, device=device, dtype=torch.float8_e4m3fn)
    b = torch.empty(48, 64, device=device, dtype=torch.float8_e4m3fn).t()
    one = torch.ones((), device=device)
    return torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def solve():
    return torch.linalg.solve(torch.empty(4, 4, device=device), torch.empty(4, 1, device=device))


def sparse():
    m = torch.eye(4).to_sparse_csr().to(device)
    return m @ torch.empty(4, 4, device=device)


operations = {
    "matmul_bf16": matmul(torch.bfloat16),
    "matmul_fp16": matmul(torch.float16),
    "matmul_fp32": matmul(torch.float32),
    "matmul_tf32": tf32,
    "matmul_fp64": matmul(torch.float64),
    "matmul_complex64": matmul(torch.complex64),
    "bmm": bmm,
    "baddbmm": lambda: torch.baddbmm(torch.empty(5, 7, 3, device=device), torch.empty(5, 7, 16, device=device),
                                     torch.empty(5, 16, 3, device=device)),
    "mv": lambda: torch.mv(torch.empty(7, 16, device=device), torch.empty(16, device=device)),
    "dot": lambda: torch.dot(torch.empty(16, device=device), torch.empty(16, device=device)),
    "addmm": lambda: torch.addmm(torch.empty(32, device=device, dtype=torch.bfloat16),
                                 torch.empty(96, 64, device=device, dtype=torch.bfloat16),
                                 torch.empty(64, 32, device=device, dtype=torch.bfloat16)),
    "linear": linear,
    "gelu_addmm": lambda: torch._addmm_activation(torch.empty(32, device=device), torch.empty(96, 64, device=device),
                                                  torch.empty(64, 32, device=device), use_gelu=True),
    "scaled_fp8": scaled_fp8,
    "attention": attention(False),
    "attention_causal": attention(True),
    "attention_mask": attention_with_mask,
    "lstm": recurrent(torch.nn.LSTM),
    "lstm_bidirectional": recurrent(torch.nn.LSTM, bidirectional=True),
    "lstm_dropout": recurrent(torch.nn.LSTM, dropout=0.5),
    "lstm_projection": recurrent(torch.nn.LSTM, proj_size=5),
    "gru": recurrent(torch.nn.GRU),
    "rnn": recurrent(torch.nn.RNN),
    "convolution": convolution,
    "conv_transpose": lambda: torch.nn.ConvTranspose2d(8, 16, 3, device=device)(torch.empty(2, 8, 16, 16, device=device)),
    "conv1d_bf16": lambda: torch.nn.Conv1d(8, 16, 3, device=device, dtype=torch.bfloat16)(
        torch.empty(2, 8, 16, device=device, dtype=torch.bfloat16)),
    "batch_norm": batch_norm,
    "erfinv": lambda: torch.erfinv(torch.empty(100, device=device)),
    "fft": lambda: torch.fft.fft(torch.empty(16, device=device)),
    "solve": solve,
    "inv": lambda: torch.linalg.inv(torch.empty(4, 4, device=device)),
    "svd": lambda: torch.linalg.svd(torch.empty(4, 4, device=device)),
    "batched_solve": lambda: torch.linalg.solve(torch.empty(3, 4, 4, device=device), torch.empty(3, 4, 1, device=device)),
    "triangular": lambda: torch.linalg.solve_triangular(torch.empty(4, 4, device=device), torch.empty(4, 2, device=device), upper=True),
    "sparse": sparse,
    "ctc": lambda: F.ctc_loss(torch.empty(20, 2, 5, device=device).log_softmax(-1), torch.ones(8, dtype=torch.int32, device=device),
                              *(torch.full((2,), n, dtype=torch.int32, device=device) for n in (20, 4))),
    "affine_grid": lambda: F.grid_sample(torch.empty(1, 1, 8, 8, device=device),
                                         F.affine_grid(torch.empty(1, 2, 3, device=device), (1, 1, 8, 8), align_corners=True),
                                         align_corners=True),
    "randperm": lambda: torch.randperm(100, device=device),
    "multinomial": lambda: torch.multinomial(torch.ones(10, device=device), 3),
}

for name in sys.argv[1:] or operations:
    print("run", name, flush=True)
    try:
        operations[name]()
        torch.cuda.synchronize()
        print("ok", name, flush=True)
    except Exception as error:
        print("error", name + ":", str(error).split("\n")[0], flush=True)
