#include "data_file.h"

#include <cstring>

#include "attnscope/error.h"

namespace attnscope::cupti_host {
namespace {

constexpr uint64_t kMostPayload = 1ull << 30;  // CUPTI's images of one launch have some hundred KiB

uint32_t header_checksum(DataHeader header) {
    header.header_crc32 = 0;
    return crc32(&header, sizeof header);
}

}  // namespace

DataReader::DataReader(std::istream& in, const std::string& origin) : in_(in) {
    in_.seekg(0, std::ios::end);
    const std::streamoff size = in_.tellg();
    in_.seekg(0);
    char magic[sizeof kDataMagic] = {};
    in_.read(magic, sizeof magic);
    if (size < static_cast<std::streamoff>(sizeof magic) || !in_ ||
        std::memcmp(magic, kDataMagic, sizeof magic) != 0)
        throw Error(origin + ": no counter data of attnscope; name a counters/*.data of a run");
    left_ = static_cast<uint64_t>(size) - sizeof magic;
}

bool DataReader::stop(const char* why) {
    trouble_ = why;
    unread_ = left_;
    left_ = 0;
    return false;
}

bool DataReader::next(DataRecord& record) {
    if (left_ == 0) return false;
    DataHeader& header = record.header;
    if (left_ < sizeof header) return stop("cut short");
    in_.read(reinterpret_cast<char*>(&header), sizeof header);
    // Behind a damaged header nothing is certain: not where the next record begins, and not with which config
    // its image was made.
    if (!in_ || header.record_magic != kRecordMagic || header.header_crc32 != header_checksum(header) ||
        header.bytes > kMostPayload)
        return stop("damaged");
    const uint64_t padded = (header.bytes + 7) / 8 * 8;
    if (padded > left_ - sizeof header) return stop("cut short");
    record.payload.resize(static_cast<size_t>(header.bytes));
    in_.read(record.payload.data(), static_cast<std::streamsize>(record.payload.size()));
    in_.ignore(static_cast<std::streamsize>(padded - header.bytes));
    if (!in_) return stop("cut short");
    record.intact = crc32(record.payload.data(), record.payload.size()) == header.payload_crc32;
    left_ -= sizeof header + padded;
    return true;
}

}  // namespace attnscope::cupti_host
