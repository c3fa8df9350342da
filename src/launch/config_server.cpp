#include "config_server.h"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <system_error>

namespace attnscope::launch {
namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::milliseconds(10);
/// A chip, a CUPTI and an availability image make a key: no honest run has so many.
constexpr size_t kMostKeys = 64;

/// A line of `<key>.refused` is one line.
std::string one_line(std::string text) {
    for (char& c : text)
        if (c == '\n' || c == '\r') c = ' ';
    return text;
}

}  // namespace

ConfigServer::ConfigServer(fs::path folder, MakeConfig make)
    : folder_(std::move(folder)), make_(std::move(make)) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) {
        lost(folder_.string() + " could not be made", error.value());
        return;
    }
    // Signals are the main thread's: it passes them on to the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this] { serve(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ConfigServer::~ConfigServer() {
    close();
}

void ConfigServer::close() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void ConfigServer::serve() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kPoll, [this] { return closing_; })) {
        lock.unlock();
        answer_all();
        lock.lock();
    }
    lock.unlock();
    answer_all();
    std::error_code error;
    if (!fs::exists(folder_, error)) return;  // somebody removed the run: nothing to close
    if (!write_whole(folder_ / "closed", "")) lost("`closed` could not be written", errno);
}

void ConfigServer::answer_all() {
    for (const std::string& key : unanswered_asks(folder_)) {
        if (!done_.insert(key).second) continue;
        const auto refusal = answer(key);
        if (!refusal) continue;
        const std::string text = one_line(refusal->code) + '\n' + one_line(refusal->message) + '\n' +
                                 one_line(refusal->remedy) + '\n';
        if (!write_whole(folder_ / (key + ".refused"), text)) lost("an answer could not be written", errno);
    }
}

std::optional<Refusal> ConfigServer::answer(const std::string& key) {
    if (done_.size() > kMostKeys)
        return Refusal{"counters-no-config",
                       "more than " + std::to_string(kMostKeys) + " config images were asked for",
                       "report it with the command line: a run needs one for each kind of GPU"};
    std::string fault;
    const auto ask = read_ask(folder_, key, fault);
    if (!ask)
        return Refusal{"counters-no-config", "the request " + key + ".ask cannot be answered: " + fault,
                       "run it again; if it comes again, report it with the command line"};
    try {
        return make_(*ask, folder_ / (key + ".config"));
    } catch (const std::exception& e) {
        return Refusal{"counters-no-config", std::string("no config image could be made: ") + e.what(),
                       "attnscope doctor says what is wrong with this machine"};
    }
}

void ConfigServer::lost(const std::string& what, int error) {
    diagnostics_.push_back(
        {DiagnosticLevel::warning, "counters-disk",
         "the request of a process for its counters was not answered: " + what + ": " + std::strerror(error),
         "make room on the disk of the run's folder, or name another with -o", 1});
}

}  // namespace attnscope::launch
