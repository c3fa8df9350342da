// Device memory: accounting, and what is known of its content.
#include <cstring>
#include <numeric>

#include "core_support.h"

namespace {

using namespace core_test;

class Memory : public Driver {
  protected:
    CUdeviceptr allocate(size_t bytes) {
        CUdeviceptr pointer = 0;
        EXPECT_CUDA(cuMemAlloc(&pointer, bytes));
        return pointer;
    }
};

TEST_F(Memory, WhatTheHostWroteIsReadBack) {
    Ears ears;
    const CUdeviceptr memory = allocate(4096);
    std::vector<int> in(1024), out(1024, -1);
    std::iota(in.begin(), in.end(), 0);
    ASSERT_CUDA(cuMemcpyHtoD(memory, in.data(), 4096));
    ASSERT_CUDA(cuMemcpyDtoH(out.data(), memory, 4096));
    EXPECT_EQ(in, out);
    EXPECT_TRUE(ears.reads.empty());
    ASSERT_EQ(ears.copies.size(), 2u);
    EXPECT_EQ(ears.copies[0].copy_kind, 1);  // CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
    EXPECT_EQ(ears.copies[1].copy_kind, 2);  // ..._DTOH
    EXPECT_EQ(ears.copies[1].bytes, 4096u);
    EXPECT_EQ(ears.copies[1].source_kind, 3);       // CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
    EXPECT_EQ(ears.copies[1].destination_kind, 1);  // ..._PAGEABLE
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, UntouchedMemoryReadsAsZerosAndIsCounted) {
    Ears ears;
    const CUdeviceptr memory = allocate(256);
    std::vector<unsigned char> out(256, 0xee);
    ASSERT_CUDA(cuMemcpyDtoH(out.data(), memory, 256));
    EXPECT_EQ(out, std::vector<unsigned char>(256, 0));
    ASSERT_EQ(ears.reads.size(), 1u);
    EXPECT_EQ(ears.reads[0].bytes, 256u);
    EXPECT_EQ(ears.reads[0].cause, "memcpy");
    EXPECT_EQ(ears.reads[0].returned, "zeros");
    EXPECT_FALSE(ears.reads[0].location.empty());
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, OnlyTheUnknownPartOfAReadCounts) {
    Ears ears;
    const CUdeviceptr memory = allocate(100);
    const char text[] = "0123456789";
    ASSERT_CUDA(cuMemcpyHtoD(memory + 20, text, 10));
    char out[40];
    ASSERT_CUDA(cuMemcpyDtoH(out, memory + 10, 40));
    EXPECT_EQ(std::memcmp(out + 10, text, 10), 0);
    ASSERT_EQ(ears.reads.size(), 1u);
    EXPECT_EQ(ears.reads[0].bytes, 30u);
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, MemsetsOfAllWidthsAreKnown) {
    Ears ears;
    const CUdeviceptr memory = allocate(64);
    ASSERT_CUDA(cuMemsetD8(memory, 0xab, 64));
    ASSERT_CUDA(cuMemsetD16(memory + 2, 0x1234, 3));
    ASSERT_CUDA(cuMemsetD32(memory + 16, 0xdeadbeef, 4));
    unsigned char out[64];
    ASSERT_CUDA(cuMemcpyDtoH(out, memory, 64));
    const unsigned char begin[10] = {0xab, 0xab, 0x34, 0x12, 0x34,
                                     0x12, 0x34, 0x12, 0xab, 0xab};  // little-endian
    EXPECT_EQ(std::memcmp(out, begin, 10), 0);
    uint32_t word;
    std::memcpy(&word, out + 28, 4);
    EXPECT_EQ(word, 0xdeadbeefu);
    EXPECT_EQ(out[32], 0xab);
    EXPECT_TRUE(ears.reads.empty());
    ASSERT_EQ(ears.sets.size(), 3u);
    EXPECT_EQ(ears.sets[2].bytes, 16u);
    EXPECT_EQ(ears.sets[2].value, 0xdeadbeefu);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(memory + 2, 0, 1));  // not aligned
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, DeviceCopiesCarryWhatIsKnown) {
    Ears ears;
    const CUdeviceptr from = allocate(1 << 20), to = allocate(1 << 20);
    ASSERT_CUDA(cuMemcpyHtoD(from + 100, "hello", 5));
    ASSERT_CUDA(cuMemsetD8(to, 1, 1 << 20));
    ASSERT_CUDA(cuMemcpyDtoD(to + 50, from + 90, 100));
    char out[100];
    ASSERT_CUDA(cuMemcpyDtoH(out, to + 50, 100));
    EXPECT_EQ(std::memcmp(out + 10, "hello", 5), 0);
    ASSERT_EQ(ears.reads.size(), 1u);
    EXPECT_EQ(ears.reads[0].bytes, 95u);  // unknown in the source, so unknown here, whatever was here before
    ASSERT_CUDA(cuMemcpyDtoH(out, to + 150, 100));
    EXPECT_EQ(out[0], 1);
    EXPECT_EQ(ears.reads.size(), 1u);
    EXPECT_CUDA(cuMemFree(from));
    EXPECT_CUDA(cuMemFree(to));
}

TEST_F(Memory, PitchedCopies) {
    Ears ears;
    CUdeviceptr memory = 0;
    size_t pitch = 0;
    ASSERT_CUDA(cuMemAllocPitch(&memory, &pitch, 100, 8, 4));
    EXPECT_GE(pitch, 100u);
    EXPECT_EQ(pitch % 512, 0u);
    std::vector<unsigned char> in(100 * 8), out(100 * 8);
    std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = in.data();
    copy.srcPitch = 100;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = pitch;
    copy.WidthInBytes = 100;
    copy.Height = 8;
    ASSERT_CUDA(cuMemcpy2D(&copy));
    CUDA_MEMCPY2D back{};
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = memory;
    back.srcPitch = pitch;
    back.dstMemoryType = CU_MEMORYTYPE_HOST;
    back.dstHost = out.data();
    back.dstPitch = 100;
    back.WidthInBytes = 100;
    back.Height = 8;
    ASSERT_CUDA(cuMemcpy2D(&back));
    EXPECT_EQ(in, out);
    EXPECT_TRUE(ears.reads.empty());
    EXPECT_CUDA(cuMemFree(memory));
}

TEST_F(Memory, CapacityIsTheDevices) {
    size_t free = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total);
    const CUdeviceptr most = allocate(total - (size_t{1} << 30));
    CUdeviceptr more = 0;
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, size_t{2} << 30));
    EXPECT_EQ(more, 0u);
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_LE(free, size_t{1} << 30);
    EXPECT_CUDA(cuMemFree(most));
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total);
    EXPECT_CUDA_ERROR(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, size_t{1} << 50));
}

TEST_F(Memory, SmallAllocationsShareBlocksAndDoNotOverlap) {
    std::vector<CUdeviceptr> all;
    for (int i = 0; i < 5000; i++) {
        all.push_back(allocate(1 + static_cast<size_t>(i) % 700));
        EXPECT_EQ(all.back() % 256, 0u);  // CUDA programming guide: at least 256-byte alignment
        ASSERT_CUDA(cuMemcpyHtoD(all.back(), &i, 1));
    }
    for (int i = 0; i < 5000; i++) {
        unsigned char byte = 0;
        ASSERT_CUDA(cuMemcpyDtoH(&byte, all[static_cast<size_t>(i)], 1));
        EXPECT_EQ(byte, static_cast<unsigned char>(i));
    }
    for (CUdeviceptr pointer : all) EXPECT_CUDA(cuMemFree(pointer));
    size_t free = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total);
}

TEST_F(Memory, BadPointersAreRefused) {
    char host[16] = {};
    const CUdeviceptr memory = allocate(64);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory + 8));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemFree(0x1234));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, memory + 60, 16));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host, 4));
    EXPECT_CUDA(cuMemFree(memory));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, host, 4));
}

TEST_F(Memory, PinnedManagedAndRegisteredMemoryAreReal) {
    void* pinned = nullptr;
    CUdeviceptr managed = 0;
    ASSERT_CUDA(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
    ASSERT_CUDA(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    std::memset(pinned, 7, 4096);
    std::memset(reinterpret_cast<void*>(managed), 9, 4096);
    CUmemorytype type{};
    ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      reinterpret_cast<CUdeviceptr>(pinned) + 5));
    EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
    bool is_managed = false;
    ASSERT_CUDA(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EXPECT_TRUE(is_managed);
    std::vector<char> own(8192);
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                            reinterpret_cast<CUdeviceptr>(own.data())));
    ASSERT_CUDA(cuMemHostRegister(own.data(), own.size(), 0));
    EXPECT_CUDA_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data() + 100, 10, 0));
    ASSERT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      reinterpret_cast<CUdeviceptr>(own.data()) + 8191));
    EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
    ASSERT_CUDA(cuMemHostUnregister(own.data()));
    EXPECT_CUDA_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own.data()));
    EXPECT_CUDA(cuMemFreeHost(pinned));
    EXPECT_CUDA(cuMemFree(managed));
}

TEST_F(Memory, StreamOrderedPoolsAccount) {
    CUmemoryPool pool = nullptr;
    ASSERT_CUDA(cuDeviceGetDefaultMemPool(&pool, 0));
    CUdeviceptr memory = 0;
    ASSERT_CUDA(cuMemAllocAsync(&memory, 3 << 20, nullptr));
    cuuint64_t used = 0;
    ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT_EQ(used, size_t{3} << 20);
    ASSERT_CUDA(cuMemFreeAsync(memory, nullptr));
    ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT_EQ(used, 0u);
    ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
    EXPECT_EQ(used, size_t{3} << 20);
}

TEST_F(Memory, MappedPiecesAreOneRange) {
    Ears ears;
    const size_t piece = 2 << 20;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUdeviceptr address = 0;
    ASSERT_CUDA(cuMemAddressReserve(&address, 4 * piece, 0, 0, 0));
    CUmemGenericAllocationHandle handles[2];
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (size_t i = 0; i < 2; i++) {
        ASSERT_CUDA(cuMemCreate(&handles[i], piece, &properties, 0));
        ASSERT_CUDA(cuMemMap(address + i * piece, piece, 0, handles[i], 0));
    }
    char text[] = "over the border";
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address, text, 4));  // no access yet
    ASSERT_CUDA(cuMemSetAccess(address, 2 * piece, &access, 1));
    ASSERT_CUDA(cuMemcpyHtoD(address + piece - 5, text, sizeof text));
    char out[sizeof text] = {};
    ASSERT_CUDA(cuMemcpyDtoH(out, address + piece - 5, sizeof text));
    EXPECT_STREQ(out, text);
    EXPECT_TRUE(ears.reads.empty());
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                      cuMemcpyHtoD(address + 2 * piece - 2, text, 4));  // runs out of the mapping
    ASSERT_CUDA(cuMemUnmap(address, 2 * piece));
    ASSERT_CUDA(cuMemRelease(handles[0]));
    ASSERT_CUDA(cuMemRelease(handles[1]));
    ASSERT_CUDA(cuMemAddressFree(address, 4 * piece));
    size_t free = 0, total = 0;
    ASSERT_CUDA(cuMemGetInfo(&free, &total));
    EXPECT_EQ(free, total);
}

TEST_F(Memory, TheHostsMemoryStaysBounded) {
    // ATTNSCOPE_VGPU_KEPT_BYTES is 1 MiB for this program (CMakeLists.txt).
    Ears ears;
    const CUdeviceptr memory = allocate(8 << 20);
    std::vector<char> bytes(8 << 20, 3);
    ASSERT_CUDA(cuMemcpyHtoD(memory, bytes.data(), bytes.size()));
    EXPECT_EQ(ears.diagnostics, std::vector<std::string>{"content-not-kept"});
    char out[4];
    ASSERT_CUDA(cuMemcpyDtoH(out, memory, 4));
    EXPECT_EQ(ears.reads.size(), 1u);
    ASSERT_CUDA(cuMemcpyHtoD(memory, bytes.data(), 1000));
    ASSERT_CUDA(cuMemcpyDtoH(out, memory, 4));
    EXPECT_EQ(out[3], 3);
    EXPECT_EQ(ears.reads.size(), 1u);
    EXPECT_CUDA(cuMemFree(memory));
}

}  // namespace
