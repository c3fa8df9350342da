// POSIX ustar, with GNU's and pax's long names: read in one pass, member by member.
#include <algorithm>
#include <cstring>

#include "containers.h"

namespace attnscope::importer {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMostName = 4096;

/// Octal with leading spaces, ended by a space or NUL; GNU's base 256 where the first bit is set.
uint64_t number(const char* field, size_t size) {
    uint64_t value = 0;
    if (field[0] & '\x80') {
        for (size_t i = 1; i < size; ++i) value = value << 8 | static_cast<unsigned char>(field[i]);
        return value;
    }
    for (size_t i = 0; i < size; ++i) {
        if (field[i] == ' ' && value == 0) continue;
        if (field[i] < '0' || field[i] > '7') break;
        value = value << 3 | static_cast<uint64_t>(field[i] - '0');
    }
    return value;
}

std::string text(const char* field, size_t size) {
    return {field, strnlen(field, size)};
}

bool fill(ByteWindow& archive, size_t bytes) {
    while (archive.size() < bytes)
        if (!archive.more()) return false;
    return true;
}

/// The header's own sum: what is no tar fails it.
bool checksum_holds(const char* header) {
    uint64_t sum = 0;
    for (size_t i = 0; i < kBlock; ++i)
        sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
    return sum == number(header + 148, 8);
}

/// The next `left` bytes of the archive.
class MemberSource : public ByteSource {
  public:
    MemberSource(ByteWindow& archive, uint64_t size) : archive_(archive), left_(size) {}
    size_t read(char* out, size_t size) override {
        if (left_ == 0) return 0;
        if (archive_.size() == 0 && !archive_.more()) return 0;
        const size_t taken = static_cast<size_t>(std::min<uint64_t>({size, archive_.size(), left_}));
        std::memcpy(out, archive_.begin(), taken);
        archive_.consume(taken);
        left_ -= taken;
        return taken;
    }
    std::string problem() const override {
        return left_ > 0 && archive_.at_end() && archive_.size() == 0 ? "the archive is cut short" : "";
    }
    uint64_t of_file() const override { return archive_.source().of_file(); }
    uint64_t left() const { return left_; }

  private:
    ByteWindow& archive_;
    uint64_t left_;
};

bool skip(ByteWindow& archive, uint64_t bytes) {
    while (bytes > 0) {
        if (archive.size() == 0 && !archive.more()) return false;
        const uint64_t step = std::min<uint64_t>(bytes, archive.size());
        archive.consume(static_cast<size_t>(step));
        bytes -= step;
    }
    return true;
}

/// "27 path=some/name\n" ... of a pax header.
std::string pax_path(std::string_view records) {
    const size_t at = records.find(" path=");
    if (at == std::string_view::npos) return {};
    const size_t start = at + 6;
    return std::string(records.substr(start, records.find('\n', start) - start));
}

}  // namespace

bool is_tar(std::string_view head) {
    return head.size() >= kBlock && head.substr(257, 5) == "ustar" && checksum_holds(head.data());
}

std::string for_each_member(ByteWindow& archive,
                            const std::function<void(const std::string&, ByteSource&)>& member) {
    std::string long_name;
    while (true) {
        if (!fill(archive, kBlock)) return archive.size() > 0 ? "the archive is cut short" : "";
        char header[kBlock];
        std::memcpy(header, archive.begin(), kBlock);
        archive.consume(kBlock);
        if (std::all_of(header, header + kBlock, [](char c) { return c == 0; })) return {};
        if (!checksum_holds(header))
            return "the archive is damaged at byte " + std::to_string(archive.offset() - kBlock);
        const uint64_t size = number(header + 124, 12);
        const uint64_t padding = (kBlock - size % kBlock) % kBlock;
        const char type = header[156];
        MemberSource bytes(archive, size);
        if (type == 'L' || type == 'x') {
            std::string content(static_cast<size_t>(std::min<uint64_t>(size, kMostName)), '\0');
            size_t got = 0;
            while (got < content.size()) {
                const size_t n = bytes.read(content.data() + got, content.size() - got);
                if (n == 0) return "the archive is cut short";
                got += n;
            }
            long_name = type == 'x' ? pax_path(content) : text(content.data(), content.size());
        } else if (type == '0' || type == '\0' || type == '7') {
            std::string name = long_name;
            if (name.empty()) {
                const std::string prefix = text(header + 345, 155);
                name = (prefix.empty() ? "" : prefix + "/") + text(header, 100);
            }
            long_name.clear();
            member(name, bytes);
        }
        if (!skip(archive, bytes.left()) || !skip(archive, padding)) return "the archive is cut short";
    }
}

}  // namespace attnscope::importer
