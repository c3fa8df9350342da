#include "support.h"

#include <algorithm>
#include <utility>

#include "analysis/models.h"

namespace attnscope::rule {

Evidence evidence(std::string label, const Value& value, std::string compared_with) {
    return {std::move(label), value, std::move(compared_with)};
}

namespace {

/// The same counters again.
std::string counter_options(const Analysis& a) {
    if (a.counters_request.empty() || a.counters_request == "none") return {};
    std::string text = " --counters " + words::shell_word(a.counters_request);
    if (!a.counters_range.empty() && a.counters_range != "kernel")
        text += " --range " + words::shell_word(a.counters_range);
    return text;
}

}  // namespace

std::string attention_command(const Analysis& a, const std::string& only, const std::string& extra) {
    const Workload& w = a.workload;
    std::string command = "attnscope attention";
    if (a.predicted() && a.device && !a.device->id.empty()) command += " --device virtual:" + a.device->id;
    if (!only.empty()) command += " --only " + only;
    const auto number = [](double value) { return std::to_string(static_cast<long long>(value)); };
    const auto add = [&](const char* option, const std::optional<double>& value) {
        if (value && *value >= 1 && *value < 1e15)
            command += std::string(" ") + option + " " + number(*value);
    };
    add("--batch", w.batch);
    add("--heads", w.heads);
    if (w.kv_heads != w.heads) add("--kv-heads", w.kv_heads);
    add("--query-length", w.query_length);
    if (w.key_length != w.query_length) add("--key-length", w.key_length);
    add("--head-dim", w.head_dim);
    if (w.element_bytes()) command += " --dtype " + w.dtype;
    if (w.causal.has_value() && !*w.causal) command += " --no-causal";
    for (const char* mask : {"bool", "additive", "expanded", "repeated"})
        if (w.mask == mask) command += " --mask " + w.mask;
    if (w.last_stride.value_or(1) != 1) add("--last-stride", w.last_stride);
    if (w.layers.value_or(1) != 1) add("--layers", w.layers);
    if (w.dropout.value_or(0) > 0 && *w.dropout < 1) command += " --dropout " + words::number(*w.dropout);
    const std::pair<const char*, const std::optional<bool>&> flags[] = {
        {"--transposed", w.transposed},       {"--contiguous", w.contiguous},
        {"--repeat-kv", w.repeat_kv},         {"--backward", w.backward},
        {"--deterministic", w.deterministic}, {"--reduced-precision-math", w.reduced_math}};
    for (const auto& [option, on] : flags)
        if (on.value_or(false)) command += std::string(" ") + option;
    command += counter_options(a);
    if (!extra.empty()) command += " " + extra;
    return command;
}

std::string real_attention_command(const Analysis& a, const std::string& only) {
    Analysis real;
    real.ground = Ground::real;
    real.workload = a.workload;
    return attention_command(real, only, "--device real -o real");
}

std::string collect_command(const Analysis& a, const std::string& device, const std::string& output,
                            const std::string& extra) {
    std::string command = "attnscope collect";
    if (!device.empty())
        command += " --device " + device;
    else if (a.predicted() && a.device && !a.device->id.empty())
        command += " --device virtual:" + a.device->id;
    command += counter_options(a) + (extra.empty() ? "" : " " + extra) + " -o " + output + " --";
    for (const std::string& word : a.command) command += " " + words::shell_word(word);
    return command + (a.command.empty() ? " ./program" : "");
}

double count(const Implementation& implementation, Role role) {
    double n = 0;
    for (const Step& step : implementation.steps)
        if (step.role == role) n += double(step.times);
    return n;
}

std::vector<const Implementation*> ran(const Analysis& analysis) {
    std::vector<const Implementation*> out;
    for (const Implementation& i : analysis.implementations)
        if (i.status == ImplementationStatus::ran && i.launches.number.value_or(0) > 0) out.push_back(&i);
    return out;
}

std::vector<const Implementation*> distinct(const Analysis& analysis) {
    const std::vector<const Implementation*> all = ran(analysis);
    std::vector<const Implementation*> out;
    for (const Implementation* i : all)
        if (i->name != "sdpa_auto" || std::none_of(all.begin(), all.end(), [&](const Implementation* other) {
                return other != i && other->backend == i->backend;
            }))
            out.push_back(i);
    return out;
}

const Implementation* math_backend(const Analysis& analysis) {
    for (const Implementation* i : ran(analysis))
        if (i->backend == "math") return i;
    return nullptr;
}

Value exact(double number, Unit unit, const Analysis& analysis, std::string formula) {
    return Value::of(number, unit, {Source::computed, analysis.ground}, std::move(formula));
}

std::string not_measured(const Analysis& analysis, const std::string& what) {
    return analysis.predicted() ? "Not measured here (virtual GPU): " + what + "." : std::string();
}

std::string not_counted(const Implementation& implementation, const char* role, const std::string& what) {
    const Measured* m = find_role(implementation.counters, role);
    if (m && m->value) return {};
    return what + (m && !m->value.absent.empty() ? " (" + m->value.absent + ")." : ".");
}

bool fp32(const std::string& type) {
    for (const char* word : {"fp32", "f32", "float32", "CUDA_R_32F", "R_32F", "float", "32F"})
        if (type == word) return true;
    return false;
}

double rounding_limit(const std::string& dtype) {
    // Outputs are weighted means of values of unit variance, at most about 4: eight steps of the type at 4,
    // and for fp32 the 10-bit products of TF32.
    return dtype == "bf16" ? 0.125 : dtype == "fp16" ? 0.016 : 0.01;
}

const Implementation* more_finite(const Analysis& a, const Implementation& i) {
    if (!i.non_finite) return nullptr;
    const Implementation* most = nullptr;
    for (const Implementation& other : a.implementations)
        if (other.non_finite && *other.non_finite.number < *(most ? *most : i).non_finite.number)
            most = &other;
    return most;
}

bool differs(const Analysis& a, const Implementation& i) {
    return more_finite(a, i) != nullptr ||
           (i.max_abs_difference && !(*i.max_abs_difference.number <= rounding_limit(a.workload.dtype)));
}

const Value& counted(const std::vector<Measured>& counters, std::string_view role) {
    static const Value none = Value::missing("not asked for");
    const Measured* found = find_role(counters, role);
    return found ? found->value : none;
}

Value dram_use(const Analysis& a, const Step& step) {
    const Value& counter = counted(step.counters, "dram_throughput");
    if (counter) return counter;
    const Value& bytes = counted(step.counters, counter_role::kDramBytes);
    const Value& time = counted(step.counters, counter_role::kSerialisedTime);
    if (!bytes) return Value::missing(bytes.absent, Unit::percent, bytes.provenance);
    if (!time || *time.number <= 0) return Value::missing(time.absent, Unit::percent, time.provenance);
    const Value peak = roofs_of(a.device.value_or(Device{}), a.workload.dtype, a.ground).dram;
    if (!peak || *peak.number <= 0) return Value::missing(peak.absent, Unit::percent, bytes.provenance);
    return Value::of(100 * *bytes.number / (*time.number * 1e-9 * *peak.number), Unit::percent,
                     bytes.provenance,
                     words::number(*bytes.number) + " bytes / (" + words::milliseconds(*time.number) +
                         " under counters x " + words::number(*peak.number / 1e9) + " GB/s)");
}

std::vector<Use> uses(const Analysis& a, const Step& step) {
    std::vector<Use> out{{"tensor pipe", counted(step.counters, counter_role::kTensorPipe)},
                         {"DRAM", dram_use(a, step)}};
    constexpr std::pair<const char*, const char*> kMore[] = {
        {"L2", "l2_throughput"},  {"issue slots", "issue_slots"},       {"FMA pipe", "fma_pipe"},
        {"ALU pipe", "alu_pipe"}, {"special-function pipe", "xu_pipe"}, {"load/store pipe", "lsu_pipe"}};
    for (const auto& [name, role] : kMore)
        if (const Value& value = counted(step.counters, role)) out.push_back({name, value});
    return out;
}

std::string in_words(const std::vector<Use>& uses) {
    std::vector<std::string> parts;
    for (const Use& use : uses)
        if (use.value) parts.push_back(use.name + " " + words::say_with_ground(use.value));
    return words::join(parts);
}

std::vector<const Step*> weighty_kernels(const Implementation& implementation) {
    constexpr double kTenth = 0.1;
    std::vector<const Step*> kernels;
    for (const Step& step : implementation.steps)
        if (step.is_kernel()) kernels.push_back(&step);
    const auto measured = [](const Step* step) { return bool(step->time); };
    const bool undisturbed = std::all_of(kernels.begin(), kernels.end(), measured);
    const auto time = [&](const Step& step) -> const Value& {
        return undisturbed ? step.time : counted(step.counters, counter_role::kSerialisedTime);
    };
    double total = 0;
    for (const Step* step : kernels) {
        if (!time(*step)) return kernels;
        total += *time(*step).number;
    }
    std::erase_if(kernels, [&](const Step* step) { return *time(*step).number < kTenth * total; });
    return kernels;
}

std::string in_a_sentence(std::string name) {
    for (size_t at = 0; (at = name.find(": ", at)) != std::string::npos;) name.erase(at, 1);
    return name;
}

std::string kernel_words(const Implementation& implementation, const Step& step) {
    return implementation.kernels.number == 1.0 ? implementation.title
                                                : in_a_sentence(step.name) + " of " + implementation.title;
}

}  // namespace attnscope::rule
