#include "spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "attnscope/error.h"

namespace attnscope::launch {
namespace {

constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
std::atomic<pid_t> g_child{0};
std::atomic<bool> g_interrupted{false};

/// The terminal sends SIGINT, SIGQUIT and SIGHUP to the whole group: the program has it already. What
/// somebody sent to us alone is passed on.
void pass_on(int number, siginfo_t* info, void*) {
    const pid_t child = g_child;
    const bool from_terminal = info != nullptr && info->si_code == SI_KERNEL;
    const int saved = errno;
    if (number != SIGUSR1 && number != SIGUSR2) g_interrupted = true;
    if (child > 0 && !from_terminal) kill(child, number);
    errno = saved;
}

/// Our own handlers while the program runs; an ignored signal (nohup) stays ignored.
class Forwarding {
  public:
    Forwarding() {
        for (size_t i = 0; i < std::size(kForwarded); ++i) {
            sigaction(kForwarded[i], nullptr, &before_[i]);
            if (before_[i].sa_handler == SIG_IGN) continue;
            struct sigaction action {};
            action.sa_sigaction = pass_on;
            action.sa_flags = SA_SIGINFO | SA_RESTART;
            sigaction(kForwarded[i], &action, nullptr);
        }
    }
    ~Forwarding() { restore(); }
    void restore() const {
        for (size_t i = 0; i < std::size(kForwarded); ++i) sigaction(kForwarded[i], &before_[i], nullptr);
    }

  private:
    struct sigaction before_[std::size(kForwarded)]{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

}  // namespace

Ended run_program(const std::string& file, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment, bool drop_output) {
    const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
    std::vector<std::string> shell = {"/bin/sh", file};
    shell.insert(shell.end(), arguments.begin() + 1, arguments.end());
    const std::vector<char*> shell_argv = pointers(shell);
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0)
        throw Error(std::string("no pipe: ") + std::strerror(errno), Exit::not_started);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);  // no signal between fork and the handlers
    const Forwarding forwarding;
    g_interrupted = false;
    const pid_t child = fork();
    if (child == 0) {
        forwarding.restore();
        sigprocmask(SIG_SETMASK, &before, nullptr);
        if (const int null = drop_output ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1; null >= 0)
            dup2(null, 1);
        execve(file.c_str(), argv.data(), envp.data());
        if (errno == ENOEXEC)
            execve("/bin/sh", shell_argv.data(),
                   envp.data());  // a script without a first line, as execvp does
        const int error = errno;
        if (write(failed[1], &error, sizeof error) < 0) _exit(126);
        _exit(127);
    }
    const int fork_error = errno;
    g_child = child;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    close(failed[1]);
    int error = child < 0 ? fork_error : 0;
    if (child > 0)
        while (read(failed[0], &error, sizeof error) < 0 && errno == EINTR) {
        }
    close(failed[0]);
    int status = 0;
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    g_child = 0;
    if (error != 0) throw Error(file + " could not be started: " + std::strerror(error), Exit::not_started);
    Ended ended;
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    ended.exit_code = ended.signal != 0 ? 128 + ended.signal : WEXITSTATUS(status);
    ended.interrupted = g_interrupted;
    return ended;
}

std::string output_of(const std::vector<std::string>& command, int limit_ms) {
    const std::vector<char*> argv = pointers(command);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(ends[1], 1);
        dup2(null, 2);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    close(ends[1]);
    std::string text;
    char part[4096];
    while (child > 0 && text.size() < 65536) {
        pollfd wait{ends[0], POLLIN, 0};
        const int ready = poll(&wait, 1, limit_ms);
        if (ready < 0 && errno == EINTR) continue;
        const ssize_t n = ready > 0 ? read(ends[0], part, sizeof part) : -1;
        if (n < 0) kill(child, SIGKILL);
        if (n <= 0) break;
        text.append(part, static_cast<size_t>(n));
    }
    close(ends[0]);
    int status = 1;
    if (child > 0) waitpid(child, &status, 0);
    return status == 0 ? text : std::string();
}

}  // namespace attnscope::launch
