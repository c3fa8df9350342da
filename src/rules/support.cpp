#include "support.h"

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
    if (w.mask == "bool" || w.mask == "additive") command += " --mask " + w.mask;
    if (w.transposed.value_or(false)) command += " --transposed";
    if (w.backward.value_or(false)) command += " --backward";
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

}  // namespace attnscope::rule
