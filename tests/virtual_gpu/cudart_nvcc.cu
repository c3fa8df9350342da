// A program as nvcc makes it, with the shared runtime: <<<>>>, device and managed variables, nested launch arguments.
// Prints "ok", or what was wrong.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__constant__ float factors[4];
__device__ int counter;
__managed__ int shared_by_both = 7;

__global__ void scale(float* x, int n) {
    __shared__ float tile[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) x[i] = tile[threadIdx.x] * factors[i % 4];
    if (i == 0) counter = shared_by_both;
}
template <int N>
__global__ void bounded(float* x) { x[threadIdx.x] = N; }

static int failures = 0;
#define EXPECT(condition) ((condition) ? (void)0 : (void)(++failures, std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition)))

static int grid_that_launches(float* x) {
    bounded<3><<<1, 32>>>(x);
    return 2;
}

int main() {
    float* x = nullptr;
    EXPECT(cudaMalloc(&x, 1024) == cudaSuccess);
    scale<<<grid_that_launches(x), 128>>>(x, 256);
    EXPECT(cudaGetLastError() == cudaSuccess);
    scale<<<1, 2048>>>(x, 256);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    scale<<<1, 128, 1 << 20>>>(x, 256);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    cudaFuncAttributes a;
    EXPECT(cudaFuncGetAttributes(&a, scale) == cudaSuccess);
    EXPECT(a.sharedSizeBytes == 1024);
    const float up[4] = {1, 2, 3, 4};
    float down[4] = {};
    EXPECT(cudaMemcpyToSymbol(factors, up, sizeof up) == cudaSuccess);
    EXPECT(cudaMemcpyFromSymbol(down, factors, sizeof down) == cudaSuccess);
    EXPECT(std::memcmp(up, down, sizeof up) == 0);
    EXPECT(cudaMemcpyToSymbol(factors, up, sizeof up, 4) == cudaErrorInvalidValue);
    size_t bytes = 0;
    EXPECT(cudaGetSymbolSize(&bytes, counter) == cudaSuccess && bytes == 4);
    int not_a_symbol = 0;
    EXPECT(cudaGetSymbolSize(&bytes, not_a_symbol) == cudaErrorInvalidSymbol);
    EXPECT(shared_by_both == 7);
    shared_by_both = 8;
    EXPECT(shared_by_both == 8);
    void* address = nullptr;
    EXPECT(cudaGetSymbolAddress(&address, shared_by_both) == cudaSuccess && address == &shared_by_both);
    int min_grid = 0;
    int block = 0;
    EXPECT(cudaOccupancyMaxPotentialBlockSize(&min_grid, &block, scale) == cudaSuccess && block > 0);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(cudaFree(x) == cudaSuccess);
    std::printf(failures ? "failed\n" : "ok\n");
    return failures != 0;
}
