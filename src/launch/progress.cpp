#include "progress.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string_view>
#include <thread>

namespace attnscope::launch {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kKernel = "{\"type\":\"kernel\"", kCounters = ".counters.jsonl";
constexpr auto kTick = std::chrono::milliseconds(500);

bool is_process_file(const fs::path& file) {
    const std::string name = file.filename().string();
    return file.extension() == ".jsonl" && name != "clocks.jsonl" && !name.ends_with(kCounters);
}

bool can_show() {
    const char* term = std::getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term && std::string_view(term) != "dumb";
}

}  // namespace

std::string progress_words(uint64_t kernels, std::optional<uint64_t> of, size_t passes, double elapsed_s) {
    std::string out = "kernel " + std::to_string(kernels);
    if (of) out += " of " + std::to_string(*of);
    if (passes == 1) out += ", pass 1 of 1";
    // A kernel's record comes when its last pass is done.
    if (passes > 1) out += ", " + std::to_string(passes) + " passes each";
    const bool can_tell = of && kernels > 0 && kernels <= *of;
    const double seconds = can_tell ? elapsed_s * double(*of - kernels) / double(kernels) : elapsed_s;
    return out + (can_tell ? ", about " : ", ") + std::to_string(std::llround(std::ceil(seconds))) +
           (can_tell ? " s left" : " s");
}

KernelCount::KernelCount(fs::path folder) : folder_(std::move(folder)) {
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
        before_.insert(it->path().filename().string());
}

uint64_t KernelCount::update() {
    std::error_code error;
    for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (is_process_file(it->path()) && before_.count(name) == 0) add(it->path(), positions_[name]);
    }
    return kernels_;
}

void KernelCount::add(const fs::path& file, Position& position) {
    std::ifstream in(file, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(position.read));
    std::array<char, 65536> block;
    while (in.read(block.data(), block.size()) || in.gcount() > 0) {
        const std::string text = position.tail + std::string(block.data(), static_cast<size_t>(in.gcount()));
        position.read += static_cast<uint64_t>(in.gcount());
        for (size_t at = 0; (at = text.find(kKernel, at)) != std::string::npos; at += kKernel.size())
            ++kernels_;
        position.tail = text.substr(text.size() - std::min(text.size(), kKernel.size() - 1));
    }
}

struct Progress::State {
    State(const fs::path& folder, std::optional<uint64_t> total, size_t n)
        : count(folder), of(total), passes(n) {}

    void show() {
        const auto start = std::chrono::steady_clock::now();
        std::unique_lock lock(mutex);
        while (!stop.wait_for(lock, kTick, [this] { return over; })) {
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
            const uint64_t kernels = count.update();
            if (kernels == 0) continue;
            // Back to the line's start, what is there erased: the program's own lines push it on.
            std::fprintf(stderr, "\r\033[K%s", progress_words(kernels, of, passes, elapsed.count()).c_str());
            shown = true;
        }
    }

    KernelCount count;
    std::optional<uint64_t> of;
    size_t passes;
    std::mutex mutex;
    std::condition_variable stop;
    bool over = false, shown = false;
    std::thread thread;
};

Progress::Progress(const fs::path& folder, std::optional<uint64_t> of, size_t passes) {
    if (!can_show()) return;
    state_ = std::make_unique<State>(folder, of, passes);
    state_->thread = std::thread([state = state_.get()] { state->show(); });
}

Progress::~Progress() {
    if (!state_) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->over = true;
    }
    state_->stop.notify_one();
    state_->thread.join();
    if (state_->shown) std::fputs("\r\033[K", stderr);
}

std::optional<uint64_t> Progress::kernels() const {
    if (!state_) return std::nullopt;
    const std::lock_guard lock(state_->mutex);
    return state_->count.update();
}

}  // namespace attnscope::launch
