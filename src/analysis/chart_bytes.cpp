// Where the bytes go, level by level of the memory hierarchy, implementations side by side.
#include <algorithm>

#include "chart_parts.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

using chart::bare;

constexpr const char* kScores = "score matrix";
constexpr const char* kTensors = "q, k, v, o and copies of them";
constexpr const char* kAll = "not told apart";

/// What an implementation has at a level: parts that add up, or why there are none.
struct Amount {
    std::vector<std::pair<const char*, Value>> parts;
    std::string absent;
};

void add_level(Chart& c, const Drawn& of, const std::string& level, const auto& amount_of) {
    // Rows that say the same reason are one.
    ByReason absent;
    std::vector<Chart::Point> points;
    for (const Implementation* i : of.list) {
        const Amount amount = amount_of(*i);
        if (amount.parts.empty()) {
            add_reason(absent, amount.absent, i->title);
            continue;
        }
        for (const auto& [series, value] : amount.parts)
            points.push_back({i->title, series, bare(value), {}, chart::is_measured(value), "", level});
    }
    if (points.empty()) return;
    for (const auto& [reason, titles] : absent)
        points.push_back({words::join(titles),
                          kAll,
                          Value::missing(reason, Unit::bytes, points.front().x.provenance),
                          {},
                          false,
                          "",
                          level});
    std::move(points.begin(), points.end(), std::back_inserter(c.points));
}

Amount whole(const Value& value, const char* series = kAll) {
    if (!value) return {{}, value.absent};
    return {{{series, value}}, ""};
}

/// All that its kernels read and write: the model tells scores from the rest.
Amount of_kernels(const Implementation& i) {
    const Value &all = i.prediction.bytes, &scores = i.prediction.score_bytes;
    if (!all || !scores) return {{}, all ? scores.absent : all.absent};
    Amount out;
    if (const double rest = *all.number - *scores.number; rest > 0)
        out.parts.emplace_back(kTensors, Value::of(rest, Unit::bytes, all.provenance));
    if (*scores.number > 0) out.parts.emplace_back(kScores, scores);
    out.parts.emplace_back("", all);
    return out;
}

/// "sdpa_math moves its scores through memory, 5.9 GB ..., sdpa_flash keeps them in registers."
std::string sentence(const Drawn& of) {
    std::vector<std::string> memory, registers;
    const Implementation* most = nullptr;
    for (const Implementation* i : of.list) {
        const Value& scores = i->prediction.score_bytes;
        if (!scores) continue;
        (*scores.number > 0 ? memory : registers).push_back(i->title);
        if (*scores.number > 0 && (!most || *scores.number > *most->prediction.score_bytes.number)) most = i;
    }
    std::string text;
    if (most && *most->prediction.least_bytes.number > 0)
        text = words::join(memory) + (memory.size() == 1 ? " sends" : " send") +
               " the score matrix through memory again and again, " + most->title + " " +
               words::times(*most->prediction.score_bytes.number / *most->prediction.least_bytes.number) +
               " the bytes of q, k, v and o";
    if (!registers.empty())
        text += (text.empty() ? "" : "; ") + words::join(registers) +
                (registers.size() == 1 ? " keeps" : " keep") + " it on the chip, tile by tile";
    return text.empty() ? "What the memory's own counters saw of one iteration." : text + ".";
}

}  // namespace

Chart bytes_chart(const Analysis& a, const Drawn& of) {
    Chart c;
    c.id = "bytes";
    c.title = "Where the bytes go";
    c.kind = Chart::Kind::stacked_bars;
    c.x = {"bytes of one iteration", Unit::bytes, 0, 0, "one axis for all levels", false};
    c.series = {kScores, kTensors, kAll};
    c.shaded = kScores;
    using P = Prediction;
    const auto model = [](Value P::*member, const char* series) {
        return [member, series](const Implementation& i) { return whole(i.prediction.*member, series); };
    };
    const auto counter = [](const char* role) {
        return [role](const Implementation& i) { return whole(i.counter(role)); };
    };
    add_level(c, of, "registers: scores, nowhere else (model)", model(&P::register_scores, kScores));
    add_level(c, of, "shared memory: tiles that CTAs load (model)", model(&P::tile_bytes, kTensors));
    add_level(c, of, "L2: what kernels read and write (model)", of_kernels);
    add_level(c, of, "L2: looked up, counted", counter("l2_bytes"));
    add_level(c, of, "DRAM: the least (model)", model(&P::dram_bytes, kAll));
    add_level(c, of, "DRAM: counted", counter(counter_role::kDramBytes));
    if (c.points.empty())
        return chart::none(c, of.list.front()->prediction.bytes.absent.empty()
                                  ? "No bytes are known."
                                  : "Not known: " + of.list.front()->prediction.bytes.absent + ".");
    c.sentence = sentence(of);
    if (a.counter_ground == Ground::fixture)
        c.sentence += " Counted values are from a fixture file: no GPU measured them.";
    return c;
}

}  // namespace attnscope::parts
