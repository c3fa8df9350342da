#include "attnscope/gate_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attnscope/names.h"

namespace attnscope::gate {
namespace {

Measurement number(const char* metric, const Value& value) {
    if (value && std::isfinite(*value.number)) return {metric, {*value.number}, {}, {}};
    return {metric, {}, {}, value.absent.empty() ? "not in the run" : value.absent};
}

/// On a real GPU the launches inside a library are recorded, not the call. Which kernel a library takes is a
/// heuristic of its version and of the machine.
bool is_chosen_by_a_library(const Step& step) {
    if (step.kind != LaunchKind::kernel) return false;
    const auto& operations = step.origin.operations;
    return step.role == Role::cudnn || step.full_name.find("cublas") != std::string::npos ||
           (step.role == Role::gemm && !operations.empty() && operations.front().starts_with("aten::"));
}

Level level_of(const Step& step) {
    return step.kind == LaunchKind::library_call || is_chosen_by_a_library(step) ? Level::library_call
           : step.kind == LaunchKind::kernel                                     ? Level::kernel
           : step.kind == LaunchKind::memcpy                                     ? Level::copy
                                                                                 : Level::memset;
}

std::string part_name(const Step& step) {
    if (is_chosen_by_a_library(step)) return step.role == Role::cudnn ? "cuDNN kernel" : "cuBLAS kernel";
    if (step.kind == LaunchKind::kernel) return step.full_name;
    if (step.kind == LaunchKind::memcpy) return step.copy_kind.empty() ? "copy" : step.copy_kind;
    return step.name;
}

/// The greater of two numbers (or the lesser, where more is better); an absent one makes both absent.
void worsen(Measurement& kept, const Measurement& other, Better better) {
    if (!kept.known()) return;
    if (!other.known()) {
        kept = other;
        return;
    }
    double& a = kept.samples.front();
    const double b = other.samples.front();
    a = better == Better::higher ? std::min(a, b) : std::max(a, b);
}

/// Of code that was not looked up nothing is said: as of counters that were not asked for.
std::vector<Measurement> kernel_resources(const Step& step) {
    std::vector<Measurement> out = {number("registers", step.registers), number("shared", step.shared),
                                    number("local", step.local), number("occupancy", step.occupancy)};
    if (step.mix) {
        out.push_back({"tensor_code", {double(step.mix->tensor())}, {}, {}});
        out.push_back({"spill_code", {double(step.mix->spill_stores + step.mix->spill_loads)}, {}, {}});
    }
    return out;
}

void add_counters(std::vector<Measurement>& out, const std::vector<Measured>& counters) {
    for (const Measured& m : counters)
        if (m.value && std::isfinite(*m.value.number) && find_gate_metric(m.role))
            out.push_back({m.role, {*m.value.number}, {}, {}});
}

/// One part for what is alike in level, place and name.
std::vector<Part> parts_of(const Implementation& implementation) {
    struct Sum {
        Part part;
        double count = 0, bytes = 0;
        std::string no_bytes;
    };
    std::map<std::tuple<Level, std::string, std::string>, Sum> sums;
    for (const Step& step : implementation.steps) {
        const Level level = level_of(step);
        const std::string place =
            step.origin.operations.empty() ? step.origin.range : step.origin.operations.back();
        const auto [it, fresh] = sums.try_emplace({level, place, part_name(step)});
        Sum& sum = it->second;
        sum.count += double(step.times);
        if (level == Level::copy || level == Level::memset) {
            sum.bytes += step.bytes.number.value_or(0) * double(step.times);
            if (!step.bytes) sum.no_bytes = "a record has no bytes";
        }
        std::vector<Measurement> resources;
        if (level == Level::kernel) resources = kernel_resources(step);
        if (fresh) {
            sum.part = {level, place, part_name(step), std::move(resources), step.origin.range};
            // Where a name is launched several times, one value does not stand for all: the whole has them.
            if (level == Level::kernel) add_counters(sum.part.measurements, step.counters);
            continue;
        }
        std::erase_if(sum.part.measurements, [](const Measurement& m) {
            return find_gate_metric(m.metric)->kind == MetricClass::counter;
        });
        for (Measurement& kept : sum.part.measurements)
            for (const Measurement& other : resources)
                if (other.metric == kept.metric) worsen(kept, other, find_gate_metric(kept.metric)->better);
    }
    std::vector<Part> parts;
    for (auto& [key, sum] : sums) {
        sum.part.measurements.push_back({"count", {sum.count}, {}, {}});
        if (sum.part.level == Level::copy || sum.part.level == Level::memset)
            sum.part.measurements.push_back(sum.no_bytes.empty()
                                                ? Measurement{"bytes", {sum.bytes}, {}, {}}
                                                : Measurement{"bytes", {}, {}, sum.no_bytes});
        parts.push_back(std::move(sum.part));
    }
    return parts;
}

Subject subject_of(const Implementation& i, const std::string& name, const Analysis& analysis) {
    Subject out;
    out.name = name;
    out.reason = i.reason;
    std::vector<Measurement>& m = out.measurements;
    m.push_back({"status", {}, attnscope::to_string(i.status), {}});
    if (!i.backend.empty()) m.push_back({"backend", {}, i.backend, {}});
    m.push_back(number("launches", i.launches));
    m.push_back(number("kernels", i.kernels));
    m.push_back(number("library_calls", i.library_calls));
    m.push_back(number("copies", i.copies));
    m.push_back(number("memsets", i.memsets));
    m.push_back(number("copied_bytes", i.copied_bytes));
    m.push_back(number("peak_memory", i.peak_memory));
    m.push_back(number("least_bytes", i.least_bytes));
    m.push_back(number("score_bytes", i.score_bytes));
    add_counters(m, i.counters);
    if (i.time) m.push_back(number("time", i.time));
    if (i.launches) out.parts = parts_of(i);
    for (const AttentionCall& call : analysis.calls) {
        if (call.implementation != i.title || !call.counted_iteration) continue;
        std::string text;
        for (const std::string& input : call.inputs) text += (text.empty() ? "" : ", ") + input;
        out.attention_calls.push_back(std::move(text));
        for (const AttentionChoice::Backend& backend : call.choice.backends)
            if (!backend.refused.empty()) out.refusals.push_back({backend.name, backend.refused.front()});
    }
    if (out.refusals.empty() && i.name == "sdpa_auto")
        for (const auto& [backend, why] : analysis.choice.refused) out.refusals.push_back({backend, why});
    std::sort(out.attention_calls.begin(), out.attention_calls.end());
    out.attention_calls.erase(std::unique(out.attention_calls.begin(), out.attention_calls.end()),
                              out.attention_calls.end());
    return out;
}

/// Titles name a process by its number where ranks are unknown; a baseline needs names that come again.
std::vector<std::string> stable_names(const std::vector<Implementation>& implementations) {
    std::map<std::string, int> times, seen;
    for (const Implementation& i : implementations) ++times[i.name];
    std::vector<std::string> names;
    for (const Implementation& i : implementations) {
        if (times[i.name] == 1)
            names.push_back(i.name);
        else if (i.title.starts_with(i.name + " (rank "))
            names.push_back(i.title);
        else
            names.push_back(i.name + " #" + std::to_string(++seen[i.name]));
    }
    return names;
}

std::string cuda_version(uint64_t version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<Fact> environment_of(const Run& run, const Analysis& analysis) {
    std::map<std::string, std::set<std::string>> versions;
    for (const Process& p : run.processes) {
        if (p.cuda_driver) versions["CUDA driver"].insert(cuda_version(*p.cuda_driver));
        if (p.cuda_runtime) versions["CUDA runtime"].insert(cuda_version(*p.cuda_runtime));
        for (const LoadedLibrary& l : p.libraries)
            if (!l.version.empty()) versions[l.name].insert(l.version);
    }
    if (!analysis.workload.torch.empty()) versions["torch"].insert(analysis.workload.torch);
    if (!analysis.workload.language.empty()) versions["language"].insert(analysis.workload.language);
    std::vector<Fact> facts;
    for (const auto& [label, values] : versions) {
        std::string all;
        for (const std::string& v : values) all += (all.empty() ? "" : ", ") + v;
        facts.push_back({label, all});
    }
    return facts;
}

std::vector<Fact> inputs_of(const Workload& w) {
    std::map<std::string, std::string> facts;
    const auto size = [&](const char* label, const std::optional<double>& v) {
        if (!v) return;
        char text[32];
        std::snprintf(text, sizeof text, "%.17g", *v);
        facts[label] = text;
    };
    const auto flag = [&](const char* label, const std::optional<bool>& v) {
        if (v) facts[label] = *v ? "yes" : "no";
    };
    size("batch", w.batch);
    size("heads", w.heads);
    size("key and value heads", w.kv_heads);
    size("query length", w.query_length);
    size("key length", w.key_length);
    size("head dimension", w.head_dim);
    size("stride of the last dimension", w.last_stride);
    size("dropout", w.dropout);
    size("layers", w.layers);
    flag("causal", w.causal);
    flag("backward", w.backward);
    flag("transposed", w.transposed);
    flag("made contiguous", w.contiguous);
    flag("K and V repeated by hand", w.repeat_kv);
    flag("deterministic", w.deterministic);
    flag("math in 16 bits", w.reduced_math);
    if (!w.dtype.empty()) facts["dtype"] = w.dtype;
    if (!w.mask.empty()) facts["mask"] = w.mask;
    std::vector<Fact> out;
    for (const auto& [label, value] : facts) out.push_back({label, value});
    return out;
}

/// What makes a comparison pointless, and what was lost.
void judge_the_run(GateFacts& out, const Run& run, const Analysis& analysis) {
    const std::string folder = analysis.folder;
    if (run.signal)
        out.unusable.push_back("the program was ended by signal " + std::to_string(*run.signal));
    else if (run.exit_code && *run.exit_code != 0)
        out.unusable.push_back("the program ended with exit code " + std::to_string(*run.exit_code));
    else if (run.ended.empty() && !run.version.empty() && run.ground != Ground::imported)
        out.unusable.push_back("the program has not ended, or its end was not recorded");
    if (run.processes.empty())
        out.unusable.push_back("no process of it used CUDA");
    else if (analysis.implementations.empty() ||
             (analysis.total_kernels.number.value_or(0) + analysis.total_library_calls.number.value_or(0) ==
              0))
        out.unusable.push_back("no kernel and no library call was recorded");
    // A program that failed often says itself why.
    if (!out.unusable.empty())
        for (const Implementation& i : analysis.implementations)
            if (!i.reason.empty())
                out.unusable.push_back(i.title + " " + attnscope::to_string(i.status) + ": " + i.reason);
    for (const Notice& notice : analysis.notices)
        if (notice.level == NoticeLevel::data_loss) out.lost.push_back(notice.message);
}

}  // namespace

double Measurement::number() const {
    if (samples.empty()) return std::nan("");
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    const size_t n = sorted.size();
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

namespace {
const Measurement* find_in(const std::vector<Measurement>& all, std::string_view metric) {
    const auto it =
        std::find_if(all.begin(), all.end(), [&](const Measurement& m) { return m.metric == metric; });
    return it == all.end() ? nullptr : &*it;
}
}  // namespace

const Measurement* Part::find(std::string_view metric) const {
    return find_in(measurements, metric);
}
const Measurement* Subject::find(std::string_view metric) const {
    return find_in(measurements, metric);
}

std::string Part::title() const {
    return level == Level::kernel ? short_kernel_name(name) : name;
}

const Part* Subject::find_part(Level level, std::string_view place, std::string_view name_) const {
    for (const Part& p : parts)
        if (p.level == level && p.place == place && p.name == name_) return &p;
    return nullptr;
}

const Subject* GateFacts::find(std::string_view name) const {
    for (const Subject& s : subjects)
        if (s.name == name) return &s;
    return nullptr;
}

GateFacts facts_of(const Run& run, const Analysis& analysis, std::vector<Finding> findings) {
    GateFacts out;
    out.ground = analysis.ground;
    out.counter_ground = analysis.counter_ground;
    out.gpu = analysis.device_name;
    out.inputs = inputs_of(analysis.workload);
    out.environment = environment_of(run, analysis);
    if (analysis.clocks.sm) out.sm_clock.push_back(analysis.clocks.sm->median);
    for (const auto& [why, samples] : analysis.clocks.throttled) out.throttled.push_back(why);
    judge_the_run(out, run, analysis);
    out.findings = std::move(findings);
    const std::vector<std::string> names = stable_names(analysis.implementations);
    for (size_t i = 0; i < names.size(); ++i) {
        Subject subject = subject_of(analysis.implementations[i], names[i], analysis);
        std::set<std::string> ids;
        for (Finding& f : out.findings)
            if (f.subject == analysis.implementations[i].title) {
                ids.insert(f.id);
                f.subject = names[i];
            }
        subject.findings.assign(ids.begin(), ids.end());
        out.subjects.push_back(std::move(subject));
    }
    std::sort(out.subjects.begin(), out.subjects.end(),
              [](const Subject& a, const Subject& b) { return a.name < b.name; });
    return out;
}

}  // namespace attnscope::gate
