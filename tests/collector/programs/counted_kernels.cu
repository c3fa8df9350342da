// The kernels of counters_program.cpp; counted_kernels.fatbin.inc is made of it with CUDA 13.0:
//   nvcc -fatbin -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -o counted_kernels.fatbin
//        counted_kernels.cu
// and then written as 32-bit words.
extern "C" __global__ void first_kernel(float* out, int n) {
    if (static_cast<int>(threadIdx.x) < n) out[threadIdx.x] = 1.0f;
}
extern "C" __global__ void second_kernel(float* out, int n) {
    __shared__ float part[256];
    part[threadIdx.x % 256] = out[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += part[(threadIdx.x + i) % 256] * static_cast<float>(i);
    out[threadIdx.x] = sum;
}
extern "C" __global__ void third_kernel(float* out, int n) {
    extern __shared__ float room[];
    room[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[(threadIdx.x + static_cast<unsigned>(n)) % blockDim.x];
}
extern "C" __global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(float* out, int n) {
    out[threadIdx.x] = static_cast<float>(n);
}
