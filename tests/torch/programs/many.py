"""80,000 different operations, with launches among and after them; and one operation with 80,000 different numbers."""
import torch

base = torch.empty(80000)
torch.relu(torch.empty(7, device="cuda"))
for i in range(80000):
    base.narrow(0, 0, i).detach()  # the number is narrow's, the shape is detach's
    if i % 1000 == 0:
        torch.relu(torch.empty(7, device="cuda"))
torch.relu(torch.empty(9, device="cuda"))
torch.cuda.synchronize()
