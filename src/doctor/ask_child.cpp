#include "ask_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace attnscope::doctor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMost = 65536;

[[noreturn]] void be_child(const std::function<void(int)>& ask, int out, pid_t parent) {
    setpgid(0, 0);  // so that a child of the child ends with it
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int null = open("/dev/null", O_RDWR);
    for (const int number : {0, 1, 2}) dup2(null, number);
    for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(variable);
    ask(out);
    _exit(0);
}

/// The status; -1 when the child could not be waited for within two seconds.
int reap(pid_t child) {
    const auto limit = Clock::now() + std::chrono::seconds(2);
    for (;;) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return status;
        if ((ended < 0 && errno != EINTR) || Clock::now() > limit) return -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

Answer ask_child(const std::function<void(int out)>& ask, int limit_ms) {
    Answer answer;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return answer;
    const pid_t parent = getpid(), child = fork();
    if (child == 0) be_child(ask, ends[1], parent);
    close(ends[1]);
    const auto limit = Clock::now() + std::chrono::milliseconds(limit_ms);
    while (child > 0 && answer.text.size() < kMost) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now()).count();
        pollfd wait{ends[0], POLLIN, 0};
        const int ready = left > 0 ? poll(&wait, 1, static_cast<int>(left)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            answer.timed_out = true;
            break;
        }
        char part[4096];
        const ssize_t n = read(ends[0], part, sizeof part);
        if (n <= 0) break;
        answer.text.append(part, static_cast<size_t>(n));
    }
    close(ends[0]);
    if (child < 0) return answer;
    if (answer.timed_out || answer.text.size() >= kMost) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    const int status = reap(child);
    if (!answer.timed_out && status != -1 && WIFSIGNALED(status)) answer.signal = WTERMSIG(status);
    return answer;
}

}  // namespace attnscope::doctor
