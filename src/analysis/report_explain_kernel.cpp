// Everything that is known of a kernel, in the order in which it follows: from what launched it to what is
// found about it.
#include <algorithm>

#include "attnscope/explain.h"
#include "attnscope/sass.h"
#include "origins.h"
#include "report_parts.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr size_t kMostKernels = 50;

using parts::value_cell;
using parts::words_cell;

/// Rows of one kernel: what, the value, how it was made.
class Chain {
  public:
    explicit Chain(std::string id) {
        table_.id = std::move(id);
        table_.title = "From the launch to the findings";
        table_.columns = {{"quantity", "quantity", "", "", false},
                          {"value", "value", "", "", false},
                          {"how", "how it was made", "", "", false}};
    }
    void add(const std::string& quantity, const Value& value, const std::string& note = {}) {
        if (!value && value.absent.empty()) return;
        std::string how = value.formula;
        if (!note.empty()) how += (how.empty() ? "" : "; ") + note;
        if (how.empty() && value) how = "as it is";
        row(quantity, value_cell(value),
            how.empty() ? value_cell(Value::missing(value.absent)) : words_cell(how));
    }
    void say(const std::string& quantity, const std::string& text, const std::string& how) {
        if (!text.empty()) row(quantity, words_cell(text), words_cell(how));
    }
    Table take() { return std::move(table_); }

  private:
    void row(const std::string& quantity, Cell value, Cell how) {
        Row r;
        r.id = std::to_string(table_.rows.size() + 1);
        r.cells = {words_cell(quantity), std::move(value), std::move(how)};
        table_.rows.push_back(std::move(r));
    }
    Table table_;
};

void add_launch(Chain& chain, const Analysis& a, const Step& s) {
    const std::string origin = origin_chain(s.origin);
    if (!origin.empty())
        chain.say("launched by", origin, "LibTorch's operations, innermost first, as they were called");
    else
        chain.add("launched by", Value::missing(a.calls_absent.empty() ? "by no operation that was recorded"
                                                                       : a.calls_absent));
    chain.say("grid", parts::dim_text(s.grid),
              s.ctas ? words::plural(*s.ctas.number, "CTA") : "CTAs in x, y, z");
    chain.say("block", parts::dim_text(s.block),
              s.threads ? words::plural(*s.threads.number, "thread") +
                              (s.warps ? ", " + words::plural(*s.warps.number, "warp") : "")
                        : "threads in x, y, z");
    chain.say("cluster", parts::dim_text(s.cluster), "CTAs that are scheduled together");
    if (s.times > 1)
        chain.add("launches alike", Value::of(double(s.times), Unit::count, {Source::trace, a.ground}));
    chain.add("time", s.time);
}

void add_resources(Chain& chain, const Step& s) {
    chain.add("registers per thread", s.registers);
    chain.add("shared memory per CTA", s.shared);
    chain.add("local memory per thread", s.local, "stack and spills");
    chain.add("CTAs on an SM at once", s.ctas_per_sm);
    chain.add("theoretical occupancy", s.occupancy, s.limiter.empty() ? "" : "limited by " + s.limiter);
    chain.add("waves", s.waves);
    if (s.decoded)
        chain.say("tile", s.decoded->tile_words(),
                  "from the kernel's name: head dimension, queries x keys, warps");
}

void add_code(Chain& chain, const Analysis& a, const Step& s) {
    if (!s.mix) {
        chain.add("instructions",
                  Value::missing(s.mix_absent.empty() ? "its machine code was not read" : s.mix_absent));
        return;
    }
    chain.add("instructions", Value::of(double(s.mix->total), Unit::count, {Source::binary, a.ground},
                                        "in its code, however often each runs; padding left out"));
    for (const std::string& sentence : sentences(*s.mix))
        chain.say("its code", sentence, "counted in the machine code (SASS)");
}

void add_counters(Chain& chain, const Analysis& a, const Step& s) {
    for (const CounterRole& role : a.counter_roles) {
        const Measured* m = find_role(s.counters, role.role);
        if (m) chain.add(role.title, m->value, m->value ? role.meaning : "");
    }
}

void add_model(Chain& chain, const Implementation& i) {
    const Prediction& p = i.prediction;
    const std::string of = " of " + i.title;
    chain.add("useful FLOP" + of, p.useful_flops);
    chain.add("least bytes" + of, p.least_bytes);
    chain.add("score bytes" + of, p.score_bytes);
    chain.add("least DRAM bytes" + of, p.dram_bytes, p.l2_note);
    chain.add("roof" + of, p.roof, p.roof_name);
    chain.add("time bound" + of, p.bound, p.binds.empty() ? "" : "bound by " + p.binds);
}

/// The findings about its implementation, or that name it.
std::vector<Finding> about(const std::vector<Finding>& findings, const Implementation& i, const Step& s) {
    std::vector<Finding> out;
    for (const Finding& f : findings) {
        const size_t at = f.subject.find(i.title);
        const auto edge = [&](size_t p) {
            return p >= f.subject.size() || f.subject[p] == ',' || f.subject[p] == ' ';
        };
        const bool subject =
            at != std::string::npos && (at == 0 || f.subject[at - 1] == ' ') && edge(at + i.title.size());
        if (subject || f.claim.find(s.name) != std::string::npos) out.push_back(f);
    }
    return out;
}

std::string number_words(const Implementation& i, size_t index) {
    return i.title + ", " + (i.grouped ? "row " : "launch ") + std::to_string(index + 1);
}

}  // namespace

std::vector<std::string> kernel_names(const Analysis& a) {
    std::vector<std::string> names;
    for (const Implementation& i : a.implementations)
        for (const Step& s : i.steps)
            if (s.is_kernel() && std::find(names.begin(), names.end(), s.name) == names.end())
                names.push_back(s.name);
    return names;
}

Report explain_kernels(const Analysis& a, const std::function<bool(std::string_view)>& matches) {
    const Report whole = build_report(a);
    Report r;
    r.title = "Kernels, one by one";
    r.predicted = whole.predicted;
    r.banner = whole.banner;
    r.strip = whole.strip;
    size_t found = 0;
    for (const Implementation& i : a.implementations)
        for (size_t k = 0; k < i.steps.size(); ++k) {
            const Step& s = i.steps[k];
            if (!s.is_kernel() || !(matches(s.full_name) || matches(s.name)) || ++found > kMostKernels)
                continue;
            Section section;
            section.id = "kernel-" + std::to_string(found);
            section.title = number_words(i, k) + ": " + s.name;
            section.sentence = s.full_name;
            Chain chain(section.id);
            add_launch(chain, a, s);
            add_resources(chain, s);
            add_code(chain, a, s);
            add_counters(chain, a, s);
            add_model(chain, i);
            for (const Finding& f : about(whole.findings, i, s)) {
                chain.say("finding", f.claim, "rule " + f.id);
                const std::string command =
                    "attnscope report " + words::shell_word(a.folder) + " --finding " + f.id;
                if (std::find(r.commands.begin(), r.commands.end(), command) == r.commands.end())
                    r.commands.push_back(command);
            }
            section.tables.push_back(chain.take());
            r.sections.push_back(std::move(section));
        }
    if (found > kMostKernels)
        r.answer = {"The first " + words::number(double(kMostKernels)) + " of " +
                    words::plural(double(found), "kernel") + " that match."};
    return r;
}

}  // namespace attnscope
