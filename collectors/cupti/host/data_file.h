#pragma once
// Raw counter data of one process, record by record: counter_files.h, "DataHeader". What a killed program or
// a damaged disk left is told apart from what can be read; nothing that is read after damage can be of a
// neighbour.
#include <cstdint>
#include <istream>
#include <string>

#include "collectors/cupti/counter_files.h"

namespace attnscope::cupti_host {

struct DataRecord {
    DataHeader header{};
    std::string payload;
    bool intact = true;  ///< false: the payload differs from its checksum
};

class DataReader {
  public:
    /// Throws Error (`origin` names the file) when the stream does not begin as counter data does.
    DataReader(std::istream& in, const std::string& origin);

    /// The next record whose header is intact; false at the end. Never takes more memory than the stream has
    /// left.
    bool next(DataRecord& record);

    /// After next() said false: bytes that could not be read as records, 0 for a whole file.
    uint64_t unread() const { return unread_; }
    /// Why: "cut short", "damaged"; empty for a whole file.
    const char* trouble() const { return trouble_; }

  private:
    bool stop(const char* why);

    std::istream& in_;
    uint64_t left_ = 0;  ///< bytes behind the last whole record
    uint64_t unread_ = 0;
    const char* trouble_ = "";
};

}  // namespace attnscope::cupti_host
