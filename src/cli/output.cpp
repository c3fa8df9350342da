#include "output.h"

#include <iostream>

#include "attnscope/error.h"
#include "write_file.h"

namespace attnscope::cli {

std::string render(const Report& report, std::string_view format, const TextOptions& text,
                   const CommentOptions& comment) {
    if (format == "md") return render_markdown(report);
    if (format == "html") return render_html(report);
    if (format == "json") return render_json(report);
    if (format == "comment") return render_comment(report, comment);
    return render_text(report, text);
}

void put_out(const std::string& output, std::string_view bytes) {
    if (output != "-") return write_file(output, bytes);
    std::cout << bytes;
    flush_output();
}

void flush_output() {
    std::cout << std::flush;
    if (!std::cout) throw Error("standard output cannot be written to: is the disk full?");
}

}  // namespace attnscope::cli
