#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "attnscope/error.h"

extern char** environ;

namespace attnscope::importer {

Child::Child(std::vector<std::string> command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int error = posix_spawnp(&pid_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    if (error == 0) return;
    close(output_);
    throw Error(command[0] + " cannot be started: " + std::strerror(error));
}

Child::~Child() {
    close(output_);
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);  // it is not read to its end: nobody wants the rest
    exit_code();
}

size_t Child::read(char* out, size_t size) {
    ssize_t got = -1;
    do {
        got = ::read(output_, out, size);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return 0;
    given_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
}

int Child::exit_code() {
    if (pid_ < 0) return exit_code_;
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return exit_code_;
}

}  // namespace attnscope::importer
