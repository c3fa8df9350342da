#include "config_request.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "counter_files.h"
#include "wake.h"

namespace attnscope::collector {
namespace {

constexpr uint32_t kPollMs = 5;
constexpr size_t kLargestConfig = 256u << 20;
constexpr const char* kLauncherRemedy =
    "keep attnscope collect running as long as the program runs: it makes the config image";

/// Not read, write or sleep of the program's thread is to end it in the middle (pthread_cancel).
class NotCancellable {
  public:
    NotCancellable() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NotCancellable() { pthread_setcancelstate(before_, nullptr); }
    NotCancellable(const NotCancellable&) = delete;
    NotCancellable& operator=(const NotCancellable&) = delete;

  private:
    int before_ = 0;
};

bool exists(const std::string& path) {
    return access(path.c_str(), F_OK) == 0;
}

bool read_whole(const std::string& path, std::string& content) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    content.clear();
    char part[65536];
    ssize_t n = 0;
    while (content.size() < kLargestConfig && (n = read(fd, part, sizeof part)) > 0)
        content.append(part, static_cast<size_t>(n));
    close(fd);
    return n == 0;
}

/// Beside, then renamed: whoever reads it sees all of it.
bool write_whole(const std::string& path, const void* data, size_t bytes) {
    const std::string beside = path + '.' + std::to_string(getpid()) + ".part";
    const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return false;
    const auto* p = static_cast<const char*>(data);
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = write(fd, p + done, bytes - done);
        if (n <= 0) break;
        done += static_cast<size_t>(n);
    }
    const bool closed = close(fd) == 0;
    if (done == bytes && closed && rename(beside.c_str(), path.c_str()) == 0) return true;
    unlink(beside.c_str());
    return false;
}

/// A refusal's code, as text that stays: what it stands for may be said of every launch.
const char* known_code(const std::string& code) {
    for (const char* known :
         {"counters-no-config", "counters-no-cupti", "counters-unsupported-device", "counters-metric-absent",
          "counters-out-of-memory", "counters-failed", "counters-disk", "counters-virtual"})
        if (code == known) return known;
    return "counters-no-config";
}

/// Three lines: code, message, remedy.
CuptiFailure parse_refusal(const std::string& text) {
    std::string lines[3];
    size_t at = 0;
    for (std::string& line : lines) {
        const size_t end = std::min(text.find('\n', at), text.size());
        line = text.substr(at, end - at);
        at = std::min(end + 1, text.size());
    }
    return {known_code(lines[0]), lines[1].empty() ? "the launcher refused to make a config image" : lines[1],
            lines[2]};
}

bool ask(const ConfigQuestion& question, const std::string& base, const std::string& key) {
    std::string text = "chip " + question.chip + "\ncupti " + std::to_string(question.cupti_version) +
                       "\nlibrary " + question.library + '\n';
    if (!question.availability.empty()) {
        if (!write_whole(base + ".availability", question.availability.data(), question.availability.size()))
            return false;
        text += "availability " + key + ".availability\n";
    }
    return write_whole(base + ".ask", text.data(), text.size());
}

}  // namespace

std::shared_ptr<CounterConfig> parse_config(std::string_view bytes, uint32_t cupti_version,
                                            std::string& fault) {
    ConfigHeader header;
    if (bytes.size() < sizeof header) {
        fault = "it is too short";
        return nullptr;
    }
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.magic, kConfigMagic, sizeof header.magic) != 0) {
        fault = "it is no config image";
        return nullptr;
    }
    const std::string_view rest = bytes.substr(sizeof header);
    if (header.names_bytes > rest.size() || header.image_bytes != rest.size() - header.names_bytes) {
        fault = "its length is not what it says";
        return nullptr;
    }
    const std::string_view names = rest.substr(0, header.names_bytes),
                           image = rest.substr(header.names_bytes);
    if (crc32(names.data(), names.size()) != header.names_crc32 ||
        crc32(image.data(), image.size()) != header.image_crc32) {
        fault = "its checksum is wrong";
        return nullptr;
    }
    if (header.cupti_version != cupti_version) {
        fault = "it is for another CUPTI";
        return nullptr;
    }
    auto config = std::make_shared<CounterConfig>();
    config->passes = header.passes;
    config->names.assign(names.begin(), names.end());
    config->image.assign(image.begin(), image.end());
    for (size_t at = 0; at < names.size(); at = names.find('\0', at) + 1) {
        if (names.find('\0', at) == std::string_view::npos) break;
        config->metrics.push_back(config->names.data() + at);
    }
    if (config->metrics.empty() || config->metrics.size() != header.metrics || config->image.empty()) {
        fault = "it names no metrics";
        return nullptr;
    }
    return config;
}

std::shared_ptr<const CounterConfig> request_config(const ConfigQuestion& question, CuptiFailure& failure) {
    const NotCancellable whole;
    const std::string key = config_key(question.chip, question.cupti_version,
                                       crc32(question.availability.data(), question.availability.size()));
    const std::string base = question.folder + '/' + key;
    const std::string config = base + ".config", refused = base + ".refused",
                      closed = question.folder + "/closed";
    const auto answered = [&] { return exists(config) || exists(refused); };
    // Another process of the run may have asked the same before.
    if (!answered()) {
        if (exists(closed)) {
            failure = {"counters-launcher-gone",
                       "attnscope collect ended before this process asked for its counters", kLauncherRemedy};
            return nullptr;
        }
        if (!ask(question, base, key)) {
            failure = {"counters-no-config",
                       "the request for a config image could not be written to " + question.folder,
                       "make room on the disk of the run's folder, or name another with -o"};
            return nullptr;
        }
        for (const uint64_t start = monotonic_ms(); !answered();) {
            const bool gone = exists(closed);
            if (gone && answered()) break;  // it answers before it leaves
            if (gone) {
                failure = {"counters-launcher-gone", "attnscope collect ended before it made a config image",
                           kLauncherRemedy};
                return nullptr;
            }
            if (monotonic_ms() - start >= question.wait_ms) {
                failure = {"counters-no-config",
                           "no config image came from attnscope collect within " +
                               std::to_string(question.wait_ms) + " ms",
                           kLauncherRemedy};
                return nullptr;
            }
            const timespec pause{0, kPollMs * 1'000'000};
            nanosleep(&pause, nullptr);
        }
    }
    std::string content, fault = "it cannot be read";
    if (exists(refused) && read_whole(refused, content)) {
        failure = parse_refusal(content);
        return nullptr;
    }
    std::shared_ptr<CounterConfig> made;
    if (read_whole(config, content)) made = parse_config(content, question.cupti_version, fault);
    if (made == nullptr) {
        failure = {"counters-no-config", config + " cannot be used: " + fault, "run it again"};
        return nullptr;
    }
    made->key = key;
    return made;
}

}  // namespace attnscope::collector
