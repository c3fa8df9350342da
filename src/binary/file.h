#pragma once
// A file mapped read-only. Libraries with device code are hundreds of MB, of which little is read.
#include <string>

#include "bytes.h"

namespace attnscope::binary {

class MappedFile {
  public:
    /// Throws Error: not there, not readable, not a regular file, empty.
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    Bytes bytes() const { return bytes_; }

  private:
    Bytes bytes_;
};

}  // namespace attnscope::binary
