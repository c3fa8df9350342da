#include "counters_file.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "attnscope/error.h"
#include "collectors/cupti/json_line.h"

namespace attnscope::cupti_host {

using collector::JsonLine;

void LineWriter::header(const std::string& process, const std::string& ground, uint32_t cupti,
                        uint32_t data_crc32) {
    JsonLine(lines_, "counters")
        .text("schema", "attnscope-counters")
        .text("version", "1.1")
        .text("attnscope", ATTNSCOPE_VERSION)
        .text("process", process)
        .text("ground", ground)
        .number("cupti", cupti)
        .number("data_crc32", data_crc32)
        .end();
}

void LineWriter::metric(uint64_t id, std::string_view name, std::string_view chip) {
    JsonLine(lines_, "metric").number("id", id).text("name", name).text("chip", chip).end();
}

void LineWriter::begin_counter(const Of& of, uint64_t metric) {
    JsonLine line(lines_, "counter");
    line.number(of.range ? "range" : "correlation", of.id);
    if (of.node != 0) line.number("graph_node", of.node);
    line.number("metric", metric);
}

void LineWriter::value(const Of& of, uint64_t metric, double value) {
    if (std::isnan(value)) return absent(of, metric, "CUPTI gave no value");
    if (std::isinf(value)) return absent(of, metric, "CUPTI gave no finite value");
    begin_counter(of, metric);
    char digits[32];
    lines_.append(",\"value\":")
        .append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr)
        .append("}\n");
}

void LineWriter::absent(const Of& of, uint64_t metric, std::string_view why) {
    begin_counter(of, metric);
    lines_.append(",\"absent\":");
    collector::append_json_string(lines_, why);
    lines_.append("}\n");
}

void LineWriter::diagnostic(std::string_view severity, std::string_view code, std::string_view message,
                            std::string_view remedy, uint64_t count) {
    JsonLine(lines_, "diagnostic")
        .text("severity", severity)
        .text("code", code)
        .text("message", message)
        .known("remedy", remedy)
        .number("count", count)
        .end();
}

void LineWriter::end(uint64_t images, uint64_t counters, uint64_t unjoined) {
    JsonLine(lines_, "end")
        .number("images", images)
        .number("counters", counters)
        .number("unjoined", unjoined)
        .end();
}

void LineWriter::flush() {
    for (size_t done = 0; done < lines_.size();) {
        const ssize_t n = write(file_, lines_.data() + done, lines_.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            throw Error(std::string("the counter values cannot be written: ") + std::strerror(errno) +
                        "; make room, then evaluate again");
        done += static_cast<size_t>(n);
    }
    lines_.clear();
}

}  // namespace attnscope::cupti_host
