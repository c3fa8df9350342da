#include "environment.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "attnscope/redact.h"
#include "json_line.h"
#include "loaded.h"

namespace attnscope::collector {
namespace {

std::vector<std::string> command_line() {
    const std::string raw = read_small_file("/proc/self/cmdline");
    std::vector<std::string> arguments;
    for (size_t at = 0; at < raw.size();) {
        const size_t end = std::min(raw.find('\0', at), raw.size());
        arguments.push_back(raw.substr(at, end - at));
        at = end + 1;
    }
    return arguments;
}

std::string executable() {
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

/// As NVML and nvidia-smi print it: GPU-8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
    constexpr char hex[] = "0123456789abcdef";
    std::string text = "GPU";
    for (size_t i = 0; i < bytes.size(); ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += hex[bytes[i] >> 4];
        text += hex[bytes[i] & 15];
    }
    return text;
}

}  // namespace

std::string host_name() {
    utsname name{};
    std::string host = uname(&name) == 0 ? name.nodename : "";
    for (char& c : host)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.'))
            c = '_';
    return host.empty() ? "host" : host.substr(0, 64);
}

std::string describe_process(const ProcessFacts& facts, CudaVersions versions) {
    std::string out;
    JsonLine line(out, "process");
    line.text("schema", "attnscope-run").text("version", "1.1").text("attnscope", ATTNSCOPE_VERSION);
    line.text("ground", facts.virtual_ground ? "virtual" : "real");
    line.text("collection", facts.counters ? "counters" : "activity").text("host", facts.host);
    line.number("pid", getpid()).number("ppid", getppid()).number("start_unix_ns", facts.start_unix_ns);
    line.known("executable", executable()).texts("command", redact_command(command_line()));
    if (versions.driver > 0) line.number("cuda_driver", versions.driver);
    if (versions.runtime > 0) line.number("cuda_runtime", versions.runtime);
    if (facts.cupti > 0) line.number("cupti", facts.cupti);
    if (const char* rank = std::getenv("RANK"); rank != nullptr) {
        uint32_t number = 0;
        const char* end = rank + std::strlen(rank);
        if (const auto read = std::from_chars(rank, end, number); read.ec == std::errc() && read.ptr == end)
            line.number("rank", number);
    }
    line.end();
    return out;
}

CudaVersions ask_versions() {
    CudaVersions versions;
    int value = 0;
    if (auto* get = find_function<int(int*)>("libcuda.so.1", "cuDriverGetVersion");
        get != nullptr && get(&value) == 0)
        versions.driver = value;
    for (const char* runtime : {"libcudart.so.13", "libcudart.so.12"}) {
        auto* get = find_function<int(int*)>(runtime, "cudaRuntimeGetVersion");
        if (get != nullptr && get(&value) == 0) {
            versions.runtime = value;
            break;
        }
    }
    return versions;
}

std::string describe_devices(const char* (*device_id)(int32_t)) {
    struct Attribute {
        const char* key;
        int number;  // CUdevice_attribute, cuda.h
    };
    constexpr Attribute attributes[] = {
        {"compute_major", 75},
        {"compute_minor", 76},
        {"sm_count", 16},
        {"warp_size", 10},
        {"max_threads_per_sm", 39},
        {"max_ctas_per_sm", 106},
        {"max_threads_per_cta", 1},
        {"registers_per_sm", 82},
        {"registers_per_cta", 12},
        {"shared_per_sm", 81},
        {"shared_per_cta", 8},
        {"shared_per_cta_optin", 97},
        {"shared_reserved_per_cta", 111},
        {"l2_bytes", 38},
        {"core_clock_khz", 13},
    };
    constexpr int kMemoryClockKhz = 36, kBusWidthBits = 37;
    auto* count_of = find_function<int(int*)>("libcuda.so.1", "cuDeviceGetCount");
    auto* get = find_function<int(int*, int)>("libcuda.so.1", "cuDeviceGet");
    auto* name_of = find_function<int(char*, int, int)>("libcuda.so.1", "cuDeviceGetName");
    auto* attribute_of = find_function<int(int*, int, int)>("libcuda.so.1", "cuDeviceGetAttribute");
    auto* memory_of = find_function<int(size_t*, int)>("libcuda.so.1", "cuDeviceTotalMem_v2");
    auto* uuid_of =
        find_function<int(std::array<unsigned char, 16>*, int)>("libcuda.so.1", "cuDeviceGetUuid_v2");
    std::string out;
    int count = 0;
    if (count_of == nullptr || get == nullptr || attribute_of == nullptr || count_of(&count) != 0) return out;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        int device = 0;
        if (get(&device, ordinal) != 0) continue;
        JsonLine line(out, "device");
        line.number("device", ordinal).text("ground", device_id != nullptr ? "virtual" : "real");
        if (const char* id = device_id != nullptr ? device_id(ordinal) : nullptr) line.text("id", id);
        char name[256] = "";
        if (name_of != nullptr && name_of(name, sizeof name - 1, device) == 0) line.known("name", name);
        std::array<unsigned char, 16> uuid{};
        if (uuid_of != nullptr && uuid_of(&uuid, device) == 0) line.text("uuid", uuid_text(uuid));
        for (const Attribute& attribute : attributes) {
            int value = 0;
            if (attribute_of(&value, attribute.number, device) == 0 && value >= 0)
                line.number(attribute.key, value);
        }
        size_t memory = 0;
        if (memory_of != nullptr && memory_of(&memory, device) == 0) line.number("memory_bytes", memory);
        int clock = 0, width = 0;
        if (device_id == nullptr && attribute_of(&clock, kMemoryClockKhz, device) == 0 &&
            attribute_of(&width, kBusWidthBits, device) == 0 && clock > 0 && width > 0)
            // Two transfers a clock: CUDA's own sample deviceQuery computes the peak so.
            line.number("dram_bytes_per_second",
                        2ull * static_cast<uint64_t>(clock) * 1000 * static_cast<uint64_t>(width) / 8);
        line.end();
    }
    return out;
}

}  // namespace attnscope::collector
