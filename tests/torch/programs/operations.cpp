// A LibTorch program in C++: attention forward and backward on two threads, each with its own shape.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>

#include <cstdio>
#include <thread>

namespace {

void attend(int64_t heads) {
    const auto options = at::TensorOptions().device(at::kCUDA).dtype(at::kHalf);
    at::Tensor q = at::randn({1, heads, 64, 64}, options).set_requires_grad(true);
    for (int i = 0; i < 5; ++i) at::scaled_dot_product_attention(q, q, q).sum().backward();
}

}  // namespace

int main() {
    std::thread other(attend, 3);
    attend(5);
    other.join();
    c10::cuda::device_synchronize();
    std::puts("done");
}
