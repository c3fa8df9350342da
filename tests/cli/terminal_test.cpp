// attnscope report on a terminal: its real width, and colour unless NO_COLOR or TERM=dumb say otherwise.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>

#include "blog_run.h"
#include "support/command.h"

namespace attnscope {
namespace {

class Terminal : public ::testing::Test {
  protected:
    void SetUp() override { test::write_blog_run(folder_.path() / "run", {}); }

    /// What a terminal of so many columns is sent.
    std::string shown(unsigned short columns, const std::map<std::string, std::string>& environment) {
        const std::string program = test::binary("attnscope");
        const std::string run = (folder_.path() / "run").string();
        const winsize size{24, columns, 0, 0};
        int terminal = -1;
        const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
        if (child == 0) {
            for (const char* name : {"NO_COLOR", "TERM"}) unsetenv(name);
            for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
            execl(program.c_str(), "attnscope", "report", run.c_str(), static_cast<char*>(nullptr));
            _exit(127);
        }
        std::string out;
        std::array<char, 4096> buffer;
        for (ssize_t n; (n = read(terminal, buffer.data(), buffer.size())) > 0;)  // EIO: the child has ended
            out.append(buffer.data(), static_cast<size_t>(n));
        int status = 0;
        waitpid(child, &status, 0);
        close(terminal);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << out;
        return out;
    }

    /// Columns of the longest line, without colours.
    static size_t widest(const std::string& text) {
        size_t most = 0, columns = 0;
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\x1b')
                i = text.find('m', i);
            else if (text[i] == '\n')
                columns = 0;
            else if (text[i] != '\r' && (text[i] & 0xC0) != 0x80)
                most = std::max(most, ++columns);
        }
        return most;
    }

    test::TemporaryFolder folder_;
};

TEST_F(Terminal, ColourUnlessItIsNotWanted) {
    EXPECT_NE(shown(80, {{"TERM", "xterm"}}).find("\x1b["), std::string::npos);
    EXPECT_NE(shown(80, {{"TERM", "xterm"}, {"NO_COLOR", ""}}).find("\x1b["), std::string::npos)
        << "no-color.org: only when it is not empty";
    EXPECT_EQ(shown(80, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).find('\x1b'), std::string::npos);
    EXPECT_EQ(shown(80, {{"TERM", "dumb"}}).find('\x1b'), std::string::npos);
    EXPECT_EQ(shown(80, {}).find('\x1b'), std::string::npos) << "without TERM nothing is known";
}

TEST_F(Terminal, TheRealWidthAndNoWiderLine) {
    for (const unsigned columns : {50U, 80U, 132U}) {
        const size_t most = widest(shown(static_cast<unsigned short>(columns), {{"TERM", "xterm"}}));
        EXPECT_LE(most, columns);
        EXPECT_GT(most, columns - 12) << "the width is used";
    }
}

}  // namespace
}  // namespace attnscope
