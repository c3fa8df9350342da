# Reads device memory that nothing wrote, and prints which line of this file the virtual GPU says did it.
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")


class Read(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("bytes", ctypes.c_uint64),
                ("cause", ctypes.c_char_p), ("returned", ctypes.c_char_p), ("location", ctypes.c_char_p)]


ReadFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Read))


class Observer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("user", ctypes.c_void_p),
                ("library_call", ctypes.c_void_p), ("uncomputed_read", ReadFunction),
                ("diagnostic", ctypes.c_void_p), ("assumed_figure", ctypes.c_void_p)]


observer = Observer()
observer.size = ctypes.sizeof(observer)
observer.uncomputed_read = ReadFunction(lambda user, read: print(read.contents.location.decode(), flush=True))
cuda.attnscopeVgpuSetObserver(ctypes.byref(observer))

context, memory, value = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_int()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64)) == 0


def read_back():
    assert cuda.cuMemcpyDtoH_v2(ctypes.byref(value), memory, ctypes.c_size_t(4)) == 0


read_back()
