"""A launch with one CTA too many along y, of which nobody looks at the answer."""
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")


def check(result):
    if result != 0:
        sys.exit(f"CUDA error {result}")


device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDeviceGet(ctypes.byref(device), 0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
check(cuda.cuCtxSetCurrent(context))
check(cuda.cuModuleLoadData(ctypes.byref(module), open(sys.argv[1], "rb").read()))
check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"plain"))
buffer = ctypes.c_uint64()
check(cuda.cuMemAlloc_v2(ctypes.byref(buffer), 4096))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
for batch in (65535, 65536):
    cuda.cuLaunchKernel(function, 1, batch, 1, 32, 1, 1, 0, None, arguments, None)
check(cuda.cuCtxSynchronize())
