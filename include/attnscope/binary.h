#pragma once
// Kernels' resources, read from the device code that a library or program carries (fatbin -> cubin). Needs no
// CUDA. Checked against NVIDIA's cuobjdump, kernel by kernel, in tests/binary.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

/// One kernel parameter as the cubin lays it out.
struct KernelParameter {
    uint32_t offset = 0;  ///< bytes from the start of the parameter block
    uint32_t size = 0;    ///< bytes
};

/// What one cubin says of one kernel.
struct KernelResources {
    std::string name;        ///< mangled
    uint32_t registers = 0;  ///< per thread, as the driver reports it (CU_FUNC_ATTRIBUTE_NUM_REGS)
    uint32_t cubin_registers =
        0;  ///< per thread, as the cubin says (cuobjdump's REG); never above `registers`
    uint32_t static_shared_bytes =
        0;                        ///< per CTA, without the 1,024 that the system reserves on sm_90 and later
    uint32_t local_bytes = 0;     ///< per thread: the stack frame with its spills (cuobjdump's STACK)
    uint32_t constant_bytes = 0;  ///< user constants, bytes
    uint32_t max_threads = 1024;  ///< per CTA: __launch_bounds__, else what the registers allow
    bool launch_bounded = false;  ///< max_threads comes from __launch_bounds__ (or a required block size)
    uint32_t required_cluster[3] = {0, 0, 0};  ///< __cluster_dims__; zeros when none
    std::vector<KernelParameter> parameters;   ///< in declaration order
    uint32_t cubin = 0;  ///< of a file: which of the cubins for the device, in file order (DeviceCode::at)
};

/// A cubin: the device code of one architecture.
struct CubinTarget {
    int sm = 0;                    ///< 90 for sm_90
    bool arch_specific = false;    ///< sm_90a: runs on exactly this sm
    bool family_specific = false;  ///< sm_100f: runs on this family
};

/// All kernels of one cubin (an ELF image in memory). Throws Error on a damaged image: `origin` names it in
/// the message.
std::vector<KernelResources> read_cubin(const void* image, size_t bytes, std::string_view origin);

/// The kernels of one architecture in one fatbin, decompressed only when asked for.
class Fatbin {
  public:
    /// `image` points at a fatbin (magic 0xBA55ED50); it must outlive the object. `max_bytes` bounds what may
    /// be read (SIZE_MAX where the length is known only from the header, as in a loaded program).
    Fatbin(const void* image, size_t max_bytes, std::string origin);
    ~Fatbin();
    Fatbin(Fatbin&&) noexcept;
    Fatbin& operator=(Fatbin&&) noexcept;

    /// Which cubins it holds, in file order. PTX entries are listed in has_ptx() alone.
    const std::vector<CubinTarget>& targets() const;
    bool has_ptx() const;
    size_t size_bytes() const;

    /// The cubin that a device of this compute capability runs: its own major, the highest minor not above
    /// its own; an architecture-specific one when it matches exactly. nullopt: "no kernel image is available
    /// for this device".
    std::optional<size_t> select(int major, int minor) const;

    /// The decompressed ELF image of targets()[index].
    std::vector<std::byte> image(size_t index) const;
    /// Its kernels.
    std::vector<KernelResources> kernels(size_t index) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Every fatbin in a file: ELF library or program (.nv_fatbin), bare fatbin, bare cubin. Throws Error, naming
/// the file.
struct BinaryKernels {
    std::vector<KernelResources> kernels;  ///< of the cubins that a device of this compute capability runs
    std::vector<int> architectures;        ///< sm numbers seen in the file, sorted
    size_t fatbins = 0;
    bool has_ptx =
        false;  ///< PTX, which a real driver can compile for newer devices; nothing is known of the result
};
BinaryKernels read_kernels(const std::string& path, int major, int minor);

/// One kernel's machine code (SASS) and what the compiler noted about it.
struct KernelCode {
    CubinTarget target;
    std::vector<std::byte> bytes;  ///< the section .text.KERNEL; device functions that it calls may be in it
    /// Offsets of the instructions that spill a register or refill one (EIATTR_ANNOTATIONS), as written by
    /// ptxas of CUDA 13. Empty: none noted.
    std::vector<uint32_t> spills;
};

/// The machine code in a file, of the cubins that a device of this compute capability runs. A cubin is
/// decompressed when a kernel of it is asked for; the last one stays. Throws Error, naming the file.
class DeviceCode {
  public:
    DeviceCode(const std::string& path, int major, int minor);
    ~DeviceCode();
    DeviceCode(DeviceCode&&) noexcept;
    DeviceCode& operator=(DeviceCode&&) noexcept;

    /// The code of the first kernel with this mangled name; nullopt: the file has none for the device. Which
    /// cubin holds a name is not written anywhere: until it is found, cubin after cubin is opened (all of
    /// libtorch_cuda.so 2.11: 0.6 s); names met on the way are remembered.
    std::optional<KernelCode> find(std::string_view kernel);
    /// From then on find() opens no further cubin to look for a name: it throws Error instead.
    void search_until(std::chrono::steady_clock::time_point deadline);
    /// The code of a kernel in the cubin that KernelResources::cubin says.
    std::optional<KernelCode> at(uint32_t cubin, std::string_view kernel);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// True when the program carries a static CUDA runtime (device code registered, no libcudart among its
/// needs).
bool links_static_cuda_runtime(const std::string& path);
/// The sonames that an ELF file needs (DT_NEEDED); empty for what is not an ELF file (a script).
std::vector<std::string> needed_libraries(const std::string& path);

}  // namespace attnscope
