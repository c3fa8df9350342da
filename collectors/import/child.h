#pragma once
// What another program prints, as bytes to import.
#include <string>
#include <vector>

#include "bytes.h"

namespace attnscope::importer {

class Child : public ByteSource {
  public:
    /// Starts command[0], looked up in PATH, with nothing on its stdin and its stderr dropped. Throws Error
    /// when it cannot be started.
    explicit Child(std::vector<std::string> command);
    ~Child() override;
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    size_t read(char* out, size_t size) override;
    uint64_t of_file() const override { return given_; }
    /// Once all is read: its exit code, 128+n where signal n ended it.
    int exit_code();

  private:
    int output_ = -1;
    int pid_ = -1;
    int exit_code_ = 0;
    uint64_t given_ = 0;
};

}  // namespace attnscope::importer
