// The table of published times.
#include <charconv>
#include <cmath>

#include "attnscope/error.h"
#include "models_parts.h"
#include "words.h"

namespace attnscope {
namespace {

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> out;
    for (size_t at = 0;;) {
        const size_t tab = line.find('\t', at);
        out.push_back(line.substr(at, tab - at));
        if (tab == std::string_view::npos) return out;
        at = tab + 1;
    }
}

struct Line {
    const std::string& origin;
    size_t number;
    std::vector<std::string_view> fields;

    [[noreturn]] void fail(const std::string& what) const {
        throw Error(origin + ", line " + std::to_string(number) + ": " + what);
    }
    double size(size_t field) const {
        double value = 0;
        const std::string_view text = fields[field];
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
            fail("'" + std::string(text) + "' is no number of at least 0");
        return value;
    }
};

constexpr size_t kFields = 15;

PublishedTime entry(const Line& line) {
    if (line.fields.size() != kFields)
        line.fail(std::to_string(line.fields.size()) + " columns instead of " + std::to_string(kFields));
    const auto& f = line.fields;
    PublishedTime p;
    p.gpu = f[0];
    const auto method = method_of(f[1]);
    if (!method) line.fail("unknown method '" + std::string(f[1]) + "'");
    p.method = *method;
    p.implementation = f[2];
    AttentionShape& s = p.shape;
    s.dtype = f[3];
    if (!s.element_bytes()) line.fail("unknown dtype '" + s.dtype + "'");
    s.batch = line.size(4);
    s.heads = line.size(5);
    s.kv_heads = line.size(6);
    s.query_length = line.size(7);
    s.key_length = line.size(8);
    s.head_dim = line.size(9);
    if (f[10] != "yes" && f[10] != "no" && f[10] != "?") line.fail("causal is yes, no or ?");
    s.causal = f[10] != "no";
    p.causal_known = f[10] != "?";
    if (f[11] == "forward")
        s.pass = Pass::forward;
    else if (f[11] == "backward")
        s.pass = Pass::backward;
    else if (f[11] == "both")
        s.pass = Pass::both;
    else
        line.fail("the pass is forward, backward or both");
    const double value = line.size(12);
    if (value == 0) line.fail("a time of 0");
    if (f[13] == "us")
        p.nanoseconds = value * 1000;
    else if (f[13] == "TFLOP/s")
        p.flop_per_second = value * 1e12;
    else
        line.fail("the unit is us or TFLOP/s");
    if (s.batch == 0 && p.nanoseconds) line.fail("a time needs the whole shape");
    p.source = f[14];
    if (p.source.empty()) line.fail("a published time needs its source");
    return p;
}

}  // namespace

std::vector<PublishedTime> parse_published(std::string_view text, const std::string& origin) {
    std::vector<PublishedTime> out;
    size_t number = 0;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.front() == '#') continue;
        out.push_back(entry({origin, number, split(line)}));
    }
    return out;
}

const std::vector<PublishedTime>& published_times() {
    static const std::vector<PublishedTime> all = parse_published(models::kPublishedTable, "published.tsv");
    return all;
}

Value PublishedTime::time(Ground ground) const {
    const Provenance from{Source::reported, ground};
    if (nanoseconds) return Value::of(*nanoseconds, Unit::nanoseconds, from, source);
    if (shape.batch == 0)
        return Value::missing("the source does not give the whole shape", Unit::nanoseconds, from);
    const Value flops = useful_flops(shape, is_fused(method), ground);
    return Value::of(
        *flops.number / *flop_per_second * 1e9, Unit::nanoseconds, from,
        flops.formula + " FLOP / " + words::number(*flop_per_second / 1e12) + " TFLOP/s: " + source);
}

}  // namespace attnscope
