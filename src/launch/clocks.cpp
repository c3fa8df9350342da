#include "clocks.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

#include "nvml.h"

namespace attnscope::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kInterval{200}, kSlow{2000}, kStopLimit{1000};
constexpr std::chrono::minutes kFineTime{10};

std::string line_of(const ClockReading& r) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    nlohmann::ordered_json line = {
        {"type", "clock"}, {"time_unix_ns", std::chrono::nanoseconds(now).count()}, {"device", r.device}};
    const auto add = [&](const char* name, const auto& value) {
        if (value) line[name] = *value;
    };
    if (!r.uuid.empty()) line["uuid"] = r.uuid;
    if (!r.name.empty()) line["name"] = r.name;
    add("sm_mhz", r.sm_mhz);
    add("memory_mhz", r.memory_mhz);
    add("sm_max_mhz", r.sm_max_mhz);
    add("memory_max_mhz", r.memory_max_mhz);
    add("throttle_reasons", r.throttle_reasons);
    add("temperature_c", r.temperature_c);
    add("power_mw", r.power_mw);
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

/// What a change of makes a line.
auto state_of(const ClockReading& r) {
    return std::tuple(r.sm_mhz, r.memory_mhz, r.sm_max_mhz, r.memory_max_mhz, r.throttle_reasons);
}

}  // namespace

struct ClockSampler::State {
    std::string file, nvml;
    std::mutex mutex;
    std::condition_variable wake;
    bool stopping = false, ended = false, loaded = false, lost = false;
    std::thread thread;

    bool stopped_within(milliseconds time) {
        std::unique_lock lock(mutex);
        return wake.wait_for(lock, time, [this] { return stopping; });
    }
    void run();
    void sample(const Nvml& library);
};

void ClockSampler::State::sample(const Nvml& library) {
    std::ofstream out;
    std::map<unsigned, std::pair<Clock::time_point, ClockReading>> last;
    const Clock::time_point start = Clock::now();
    do {
        std::string lines;
        const Clock::time_point now = Clock::now();
        for (const ClockReading& reading : library.read()) {
            const auto before = last.find(reading.device);
            if (before != last.end() && now - before->second.first < kSlow &&
                state_of(before->second.second) == state_of(reading))
                continue;
            lines += line_of(reading);
            last[reading.device] = {now, reading};
        }
        const std::lock_guard lock(mutex);
        if (stopping && ended) return;  // left behind: the run is no longer ours
        if (lines.empty()) continue;
        if (!out.is_open()) out.open(file, std::ios::binary | std::ios::trunc);
        out << lines << std::flush;
        lost = lost || !out;
    } while (!lost && !stopped_within(Clock::now() - start < kFineTime ? kInterval : kSlow));
}

void ClockSampler::State::run() {
    if (const auto library = Nvml::load(nvml)) {
        {
            const std::lock_guard lock(mutex);
            loaded = true;
        }
        sample(*library);
    }
    const std::lock_guard lock(mutex);
    ended = true;
    wake.notify_all();
}

ClockSampler::ClockSampler(std::string file, std::string nvml) {
    if (nvml.empty()) return;
    state_ = std::make_shared<State>();
    state_->file = std::move(file);
    state_->nvml = std::move(nvml);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    state_->thread = std::thread([state = state_] { state->run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ClockSampler::~ClockSampler() {
    stop();
}

std::vector<Diagnostic> ClockSampler::stop() {
    std::vector<Diagnostic> diagnostics;
    if (!state_) return diagnostics;
    const std::shared_ptr<State> state = std::move(state_);
    state_.reset();
    const auto say = [&](const std::string& why, const std::string& remedy) {
        diagnostics.push_back(
            {DiagnosticLevel::info, "clocks-unknown", "clocks were not recorded: " + why, remedy, 1});
    };
    std::unique_lock lock(state->mutex);
    state->stopping = true;
    state->wake.notify_all();
    const bool ended = state->wake.wait_for(lock, kStopLimit, [&] { return state->ended; });
    if (!ended)
        say("NVML does not answer", "run nvidia-smi to see whether it does");
    else if (!state->loaded)
        say("NVML (" + state->nvml + ") cannot be used", "it comes with the NVIDIA driver");
    else if (state->lost)
        say(state->file + " could not be written", "make room on the disk of the run's folder");
    state->ended = true;
    lock.unlock();
    if (ended)
        state->thread.join();
    else
        state->thread.detach();
    return diagnostics;
}

}  // namespace attnscope::launch
