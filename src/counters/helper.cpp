#include "helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "attnscope/error.h"

extern char** environ;

namespace attnscope::counters {
namespace {

constexpr size_t kMostOutput = 256u << 20;  // every metric of a chip with its roll-ups: some 10 MB

/// Actions and attributes of posix_spawn, freed.
struct Setup {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    Setup() {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    ~Setup() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;
};

using FilePtr = std::unique_ptr<FILE, int (*)(FILE*)>;

/// Text as a file without a name, at its beginning: a pipe could fill up while both sides write.
FilePtr as_file(const std::string& text) {
    FilePtr file(std::tmpfile(), &std::fclose);
    if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0)
        throw Error(std::string("no temporary file: ") + std::strerror(errno) + "; is TMPDIR writable?");
    std::rewind(file.get());
    return file;
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

HelperAnswer run_helper(const std::vector<std::string>& command, const std::string& input, int limit_ms) {
    const FilePtr stdin_file = as_file(input);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);

    Setup setup;
    posix_spawn_file_actions_adddup2(&setup.actions, fileno(stdin_file.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&setup.actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&setup.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setpgroup(&setup.attributes, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&setup.attributes, &none);
    posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = posix_spawn(&child, argv[0], &setup.actions, &setup.attributes, argv.data(), environ);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        throw Error(command[0] + " could not be started: " + std::strerror(error));
    }

    HelperAnswer answer;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    std::string part(1u << 16, '\0');
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now())
                .count();
        pollfd wait{ends[0], POLLIN, 0};
        const int ready = left <= 0 ? 0 : poll(&wait, 1, static_cast<int>(left));
        if (ready < 0 && errno == EINTR) continue;
        answer.timed_out = ready <= 0;
        const ssize_t n = ready > 0 ? read(ends[0], part.data(), part.size()) : -1;
        if (n < 0 && ready > 0 && errno == EINTR) continue;
        if (n > 0) answer.output.append(part.data(), static_cast<size_t>(n));
        answer.too_long = answer.output.size() > kMostOutput;
        if (n < 0 || answer.too_long) kill(-child, SIGKILL);  // the group: it may have a child of its own
        if (n <= 0 || answer.too_long) break;
    }
    close(ends[0]);
    answer.exit_code = wait_for(child);
    return answer;
}

}  // namespace attnscope::counters
