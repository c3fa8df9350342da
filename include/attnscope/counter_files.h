#pragma once
// The binary files of a run's `counters` folder, written by one process and read by another: a config image
// from the launcher to the program's process, raw counter data from there back to the launcher. Little
// endian, as every machine that CUDA runs on. Standard headers only.
//
// A program's process that needs a config image asks for it: it writes `<key>.ask` (beside, then renamed) and
// waits for
// `<key>.config` or `<key>.refused`. The launcher answers as long as it lives, and leaves `closed` when it
// ends.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attnscope {

/// zlib's CRC-32 (polynomial 0xEDB88320).
inline uint32_t crc32(const void* data, size_t bytes, uint32_t crc = 0) {
    static constexpr auto table = [] {
        std::array<uint32_t, 256> t{};
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t c = i;
            for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            t[i] = c;
        }
        return t;
    }();
    crc = ~crc;
    for (size_t i = 0; i < bytes; ++i)
        crc = table[(crc ^ static_cast<const uint8_t*>(data)[i]) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

/// The name of an ask and its answer: what the config image depends on besides the run's own metrics.
inline std::string config_key(std::string_view chip, uint32_t cupti_version, uint32_t availability_crc) {
    std::string key(chip);
    for (char& c : key)
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))) c = '_';
    static constexpr char digits[] = "0123456789abcdef";
    key += '-' + std::to_string(cupti_version) + '-';
    for (int shift = 28; shift >= 0; shift -= 4) key += digits[(availability_crc >> shift) & 15];
    return key;
}

/// `<key>.ask`: text, one `name value` a line, in any order: chip, cupti (version), library (absolute path of
/// the libcupti in the process), availability (file name in the same folder, absent when there is none).
///
/// `<key>.refused`: text, three lines: a diagnostic's code, message, remedy.

inline constexpr char kConfigMagic[8] = {'A', 'T', 'T', 'N', 'C', 'F', 'G', '1'};
inline constexpr char kDataMagic[8] = {'A', 'T', 'T', 'N', 'C', 'T', 'R', '1'};

/// `<key>.config`: this header, then `names_bytes` of metric names, each ended by a zero byte, then the
/// image.
struct ConfigHeader {
    char magic[8];
    uint32_t cupti_version;
    uint32_t passes;
    uint32_t metrics;  ///< how many names
    uint32_t names_bytes;
    uint64_t image_bytes;
    uint32_t names_crc32, image_crc32;
};
static_assert(sizeof(ConfigHeader) == 40);

/// `<stem>.data` begins with kDataMagic; then records follow, each this header and `bytes` of payload, padded
/// to 8.
enum class DataKind : uint32_t {
    config = 1,  ///< payload: the key (text). The images after it, until the next such record of the same
                 ///< `device`, were made with it
    image = 2,   ///< payload: a counter data image, decoded
};
enum class DataOf : uint32_t { launch = 1, range = 2 };
struct DataHeader {
    uint32_t record_magic;  ///< kRecordMagic
    DataKind kind;
    DataOf of;          ///< images: what `id` is
    uint32_t expected;  ///< images: kernels that were launched between start and stop; 0: not known (a range)
    uint64_t id;        ///< images: the launch's correlation, or the range's id
    int32_t device;     ///< ordinal
    uint32_t context;   ///< CUPTI's id
    uint32_t dropped;   ///< ranges that CUPTI says it dropped
    uint32_t flags;     ///< kNodesJoinable
    uint64_t bytes;     ///< of the payload, without padding
    uint32_t payload_crc32;
    uint32_t header_crc32;  ///< of this header with this field zero
};
static_assert(sizeof(DataHeader) == 56);
inline constexpr uint32_t kRecordMagic = 0x31434552;  ///< "REC1"
/// The kernels' order is the only one possible, so the n-th range is the launch's n-th kernel (graph_node n +
/// 1).
inline constexpr uint32_t kNodesJoinable = 1;

/// The first bytes of a counter data image that the virtual GPU's CUPTI made. NVIDIA's own takes such an
/// image without an error and finds thousands of ranges in it.
inline constexpr char kVirtualImageMagic[8] = {'v', 'G', 'P', 'U', 'c', 't', 'r', '1'};

}  // namespace attnscope
