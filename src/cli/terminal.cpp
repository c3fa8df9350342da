#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace attnscope::cli {

TextOptions terminal_options(bool to_stdout) {
    TextOptions text;
    if (!to_stdout || !isatty(STDOUT_FILENO)) return text;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) text.width = size.ws_col;
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    text.color = (!no_color || !*no_color) && term && std::strcmp(term, "dumb") != 0;
    return text;
}

}  // namespace attnscope::cli
