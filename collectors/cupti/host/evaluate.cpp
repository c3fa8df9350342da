#include "evaluate.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "attnscope/error.h"
#include "data_file.h"
#include "image_evaluator.h"
#include "tally.h"

namespace attnscope::cupti_host {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSecondsPerImage = 30;
constexpr int kMostCrashes = 20;  // a library that crashes over each image would else take for ever

uint32_t checksum_of(std::istream& in) {
    std::string part(1u << 20, '\0');
    uint32_t crc = 0;
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
        crc = crc32(part.data(), static_cast<size_t>(in.gcount()), crc);
    return crc;
}

/// Shared with the children. The tally is that of the last image whose lines are in the file.
struct Shared {
    Tally tally;
    char error[512] = {};
};

class SharedMemory {
  public:
    SharedMemory() {
        void* memory =
            mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw Error(std::string("no shared memory: ") + std::strerror(errno));
        shared_ = new (memory) Shared;
    }
    ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    Shared* operator->() const { return shared_; }
    Shared& operator*() const { return *shared_; }

  private:
    Shared* shared_;
};

/// Goes through the images from the tally's next one on. Runs in a child.
void evaluate_images(const HostApi& api, const fs::path& data, int out, Shared& shared) {
    std::ifstream file(data, std::ios::binary);
    DataReader reader(file, data.string());
    Tally tally = shared.tally;
    LineWriter lines(out);
    ImageEvaluator evaluator(api, data.parent_path(), tally, lines);
    DataRecord record;
    for (uint64_t index = 0; reader.next(record);) {
        if (record.header.kind == DataKind::config) evaluator.take_config(record);
        if (record.header.kind != DataKind::image || index++ < shared.tally.next) continue;
        alarm(kSecondsPerImage);
        evaluator.take_image(record);
        lines.flush();
        tally.next = index;
        tally.bytes = static_cast<uint64_t>(lseek(out, 0, SEEK_CUR));
        shared.tally = tally;
    }
    alarm(0);
    lines.flush();
    tally.bytes = static_cast<uint64_t>(lseek(out, 0, SEEK_CUR));
    tally.unread = reader.unread();
    tally.damaged = std::strcmp(reader.trouble(), "damaged") == 0;
    tally.finished = true;
    shared.tally = tally;
}

/// One child; the signal that ended it, 0 when it ended by itself.
int run_child(const HostApi& api, const fs::path& data, int out, Shared& shared) {
    const pid_t child = fork();
    if (child < 0) throw Error(std::string("no child process to evaluate in: ") + std::strerror(errno));
    if (child == 0) {
        try {
            evaluate_images(api, data, out, shared);
        } catch (const std::exception& e) {
            std::strncpy(shared.error, e.what(), sizeof shared.error - 1);
        }
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (shared.error[0] != '\0') throw Error(shared.error);
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    if (!shared.tally.finished) throw Error("the library ended the process that evaluated " + data.string());
    return 0;
}

/// The header of the image that a child died over, and how many images follow it.
uint64_t image_at(const fs::path& data, uint64_t index, DataHeader& header) {
    std::ifstream file(data, std::ios::binary);
    DataReader reader(file, data.string());
    DataRecord record;
    uint64_t images = 0;
    while (reader.next(record))
        if (record.header.kind == DataKind::image && images++ == index) header = record.header;
    return images > index ? images - index - 1 : 0;
}

void evaluate_in_children(const HostApi& api, const fs::path& data, int out, Shared& shared) {
    for (int crashes = 0; const int signal = run_child(api, data, out, shared);) {
        Tally& tally = shared.tally;
        if (ftruncate(out, static_cast<off_t>(tally.bytes)) != 0 ||
            lseek(out, static_cast<off_t>(tally.bytes), SEEK_SET) < 0)
            throw Error(std::string("the counter values cannot be written: ") + std::strerror(errno));
        DataHeader header{};
        const uint64_t behind = image_at(data, tally.next, header);
        const bool give_up = ++crashes == kMostCrashes;
        Case one{0, header.id, header.expected, 0, signal, header.of == DataOf::range};
        for (uint64_t image = 0; image < (give_up ? behind + 1 : 1); ++image)
            tally.add(Trouble::crashed, one);
        ++tally.next;
        if (give_up) return;
    }
}

class File {
  public:
    explicit File(const fs::path& path)
        : file_(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
        if (file_ < 0) throw Error(path.string() + ": cannot be written: " + std::strerror(errno));
    }
    ~File() { close(file_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int descriptor() const { return file_; }

  private:
    int file_;
};

}  // namespace

Evaluation evaluate_file(const HostApi& api, const fs::path& data, const fs::path& out) {
    std::ifstream file(data, std::ios::binary);
    if (!file) throw Error(data.string() + ": cannot be read");
    { const DataReader check(file, data.string()); }
    file.clear();
    file.seekg(0);
    const fs::path beside = out.string() + ".part";
    SharedMemory shared;
    try {
        const File written(beside);
        LineWriter lines(written.descriptor());
        lines.header(data.stem().string() + ".jsonl", api.ground, api.version, checksum_of(file));
        lines.flush();
        shared->tally.bytes = static_cast<uint64_t>(lseek(written.descriptor(), 0, SEEK_CUR));
        evaluate_in_children(api, data, written.descriptor(), *shared);
        write_diagnostics(api, shared->tally, lines);
        const Evaluation& done = shared->tally.done;
        lines.end(done.images, done.counters, done.unjoined);
        lines.flush();
        if (fsync(written.descriptor()) != 0 && errno != EINVAL)
            throw Error(out.string() + ": cannot be written: " + std::strerror(errno));
    } catch (...) {
        std::error_code ignored;
        fs::remove(beside, ignored);
        throw;
    }
    std::error_code failed;
    fs::rename(beside, out, failed);
    if (failed) throw Error(out.string() + ": cannot be written: " + failed.message());
    return shared->tally.done;
}

}  // namespace attnscope::cupti_host
