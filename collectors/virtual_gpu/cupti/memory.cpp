#include "collectors/virtual_gpu/cupti/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace attnscope::vgpu::cupti {

bool readable(const void* address, size_t bytes) {
    if (!address || bytes == 0) return false;
    static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<uintptr_t>(address);
    if (first + bytes < first) return false;
    // One byte of each page, read by the kernel.
    for (uintptr_t at = first; at < first + bytes; at = (at / page + 1) * page) {
        char byte = 0;
        iovec local{&byte, 1}, remote{reinterpret_cast<void*>(at), 1};
        // Where a sandbox forbids the question, the client is believed.
        if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != 1) return errno != EFAULT;
    }
    return true;
}

}  // namespace attnscope::vgpu::cupti
