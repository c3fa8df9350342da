#include "embedded_json.h"

#include <zlib.h>

#include <stdexcept>

#include "attnscope/render.h"
#include "base64.h"

namespace attnscope::reports {
namespace {

std::string gzip(const std::string& text) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16, memory = 8;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        throw std::bad_alloc();
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int result = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (result != Z_STREAM_END) throw std::runtime_error("zlib could not compress the report's JSON");
    return out;
}

}  // namespace

std::string json_link(const Report& report) {
    return "<a id=\"attnscope-report\" download=\"report.json.gz\" href=\"data:application/gzip;base64," +
           base64(gzip(render_json(report, false))) + "\">report.json.gz</a>";
}

std::string json_command() {
    return R"sh(sed -n 's/.*id="attnscope-report"[^,]*,\([^"]*\)".*/\1/p' report.html | base64 -d | gunzip)sh";
}

}  // namespace attnscope::reports
