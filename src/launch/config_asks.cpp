#include "config_asks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>

#include "attnscope/counter_files.h"

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAskLimit = 1 << 16, kAvailabilityLimit = 1 << 26, kKeyLimit = 200;

bool plain(const std::string& text, const char* others) {
    return !text.empty() && text.size() <= kKeyLimit && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               std::strchr(others, c) != nullptr;
    });
}

bool is_there(const fs::path& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0;
}

/// "name value" a line.
std::map<std::string, std::string> fields_of(const std::string& text) {
    std::map<std::string, std::string> fields;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        if (const size_t space = line.find(' '); space != std::string::npos)
            fields[line.substr(0, space)] = line.substr(space + 1);
    }
    return fields;
}

/// Takes a descriptor and closes it.
std::optional<std::string> read_all(int fd, size_t limit) {
    struct stat info {};
    std::optional<std::string> text;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && static_cast<size_t>(info.st_size) <= limit) {
        text.emplace(static_cast<size_t>(info.st_size), '\0');
        size_t got = 0;
        while (got < text->size()) {
            const ssize_t n = read(fd, text->data() + got, text->size() - got);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) break;
            got += static_cast<size_t>(n);
        }
        text->resize(got);
    }
    close(fd);
    return text;
}

}  // namespace

std::optional<std::string> read_plain_file(const fs::path& file, size_t limit) {
    // Not blocking: a pipe that nobody writes must not hold the launcher.
    const int fd = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    return read_all(fd, limit);
}

bool write_whole(const fs::path& file, const std::string& content) {
    const fs::path beside = file.string() + ".new";
    const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    size_t done = 0;
    while (done < content.size()) {
        const ssize_t n = write(fd, content.data() + done, content.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) break;
        done += static_cast<size_t>(n);
    }
    int error = done == content.size() ? 0 : errno;
    if (close(fd) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(beside.c_str(), file.c_str()) != 0) error = errno;
    if (error != 0) unlink(beside.c_str());
    errno = error;
    return error == 0;
}

std::vector<std::string> unanswered_asks(const fs::path& folder) {
    std::vector<std::string> keys;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const fs::path& file = at->path();
        if (file.extension() != ".ask") continue;
        const std::string key = file.stem().string();
        if (!plain(key, "_-")) continue;
        if (!is_there(folder / (key + ".config")) && !is_there(folder / (key + ".refused")))
            keys.push_back(key);
    }
    std::sort(keys.begin(), keys.end());
    return keys;
}

std::optional<ConfigAsk> read_ask(const fs::path& folder, const std::string& key, std::string& fault) {
    const auto text = read_plain_file(folder / (key + ".ask"), kAskLimit);
    if (!text) {
        fault = "it is not a plain file";
        return std::nullopt;
    }
    auto fields = fields_of(*text);
    ConfigAsk ask;
    ask.key = key;
    ask.chip = fields["chip"];
    ask.library = fields["library"];
    const std::string& version = fields["cupti"];
    const auto parsed = std::from_chars(version.data(), version.data() + version.size(), ask.cupti);
    uint32_t crc = 0;
    if (!plain(ask.chip, "_")) {
        fault = "it names no chip";
    } else if (version.empty() || parsed.ec != std::errc() || parsed.ptr != version.data() + version.size()) {
        fault = "it names no version of CUPTI";
    } else if (ask.library.empty() || ask.library[0] != '/') {
        fault = "it does not say which libcupti is in the process";
    } else if (const std::string& name = fields["availability"]; !name.empty()) {
        ask.availability = folder / name;
        const auto image =
            plain(name, "_-.") ? read_plain_file(ask.availability, kAvailabilityLimit) : std::nullopt;
        if (image)
            crc = crc32(image->data(), image->size());
        else
            fault = "its availability image is not a plain file of this folder";
    }
    if (fault.empty() && key != config_key(ask.chip, ask.cupti, crc))
        fault = "its name and its content differ";
    if (!fault.empty()) return std::nullopt;
    return ask;
}

std::vector<std::string> config_keys(const fs::path& data) {
    std::vector<std::string> keys;
    const int fd = open(data.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return keys;
    off_t at = sizeof kDataMagic;
    char magic[sizeof kDataMagic] = {};
    DataHeader header{};
    bool good = pread(fd, magic, sizeof magic, 0) == sizeof magic &&
                std::memcmp(magic, kDataMagic, sizeof magic) == 0;
    while (good && pread(fd, &header, sizeof header, at) == sizeof header) {
        const uint32_t crc = header.header_crc32;
        header.header_crc32 = 0;
        good = header.record_magic == kRecordMagic && crc32(&header, sizeof header) == crc &&
               header.bytes < uint64_t{1} << 40;
        if (good && header.kind == DataKind::config && header.bytes <= kKeyLimit) {
            std::string key(header.bytes, '\0');
            good = pread(fd, key.data(), key.size(), at + static_cast<off_t>(sizeof header)) ==
                       static_cast<ssize_t>(key.size()) &&
                   plain(key, "_-");
            if (good && std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
        }
        at += static_cast<off_t>(sizeof header + (header.bytes + 7) / 8 * 8);
    }
    close(fd);
    return keys;
}

}  // namespace attnscope::launch
