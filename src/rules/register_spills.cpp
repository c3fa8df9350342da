#include <set>

#include "all.h"
#include "attnscope/sass.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own thresholds, shares of a kernel's instructions: below the first local memory is not worth a
/// word, from the second on it is a warning.
constexpr double kFew = 0.5, kMany = 5;

double local_share(const InstructionMix& mix) {
    const uint64_t accesses =
        mix.count(InstructionClass::local_store) + mix.count(InstructionClass::local_load);
    return mix.total == 0 ? 0 : 100 * double(accesses) / double(mix.total);
}

constexpr double kMostRegisters = 255;  // of a thread, on every architecture since sm_35

Value in_code(double number, const Analysis& a, std::string formula = {}) {
    return Value::of(number, Unit::count, {Source::binary, a.ground}, std::move(formula));
}

/// What the counters or the registers say against it.
void oppose(const Analysis& a, const Step& step, Finding& f) {
    f.counter_evidence.push_back(
        "How often they run is not in the code: what stands before or after a kernel's loop runs once.");
    if (step.registers.number.value_or(0) >= kMostRegisters)
        f.counter_evidence.push_back(
            "A thread can have no more than " + words::number(kMostRegisters) +
            " registers, and this one has them: fewer spills mean a smaller tile or more warps a CTA, which "
            "give up reuse.");
    else if (step.registers)
        f.counter_evidence.push_back(
            words::number(*step.registers.number) + " of at most " + words::number(kMostRegisters) +
            " registers are in use: launch bounds or a compiler option set the limit, not the hardware.");
    const Value& bytes = counted(step.counters, "local_bytes");
    if (!bytes) {
        f.counter_evidence.push_back("The bytes that they move were not counted" +
                                     (a.predicted() ? " (virtual GPU)." : std::string(".")));
        return;
    }
    f.evidence.push_back(evidence("local-memory bytes", bytes, "counted, between the SM and its L1 cache"));
    if (*bytes.number == 0)
        f.counter_evidence.push_back("No byte of local memory was moved: these instructions did not run.");
}

Finding finding(const Analysis& a, const Implementation& i, const Step& step) {
    const InstructionMix& mix = *step.mix;
    const auto stores = double(mix.count(InstructionClass::local_store)),
               loads = double(mix.count(InstructionClass::local_load)),
               spill_stores = double(mix.spill_stores), spill_loads = double(mix.spill_loads);
    const double share = local_share(mix);
    const bool spills = spill_stores + spill_loads > 0;
    const std::string where = kernel_words(i, step);
    Finding f;
    f.subject = i.title;
    f.severity = share >= kMany ? Severity::warning : Severity::info;
    f.claim =
        (spills ? "Registers are spilled in " + where + ": the compiler notes " +
                      words::plural(spill_stores, "store") + " and " + words::plural(spill_loads, "load")
                : "Local memory is used in " + where + ", by arrays or spilled registers: " +
                      words::plural(stores, "store") + " and " + words::plural(loads, "load")) +
        ", " + words::percent(share) + " of its " + words::plural(double(mix.total), "instruction") +
        (spills && spill_stores + spill_loads < stores + loads ? " with the other uses of local memory."
                                                               : ".");
    f.evidence = {
        evidence("spill stores", in_code(spill_stores, a),
                 "of " + words::number(stores) + " local stores (STL)"),
        evidence("spill loads", in_code(spill_loads, a), "of " + words::number(loads) + " local loads (LDL)"),
        evidence("share of the instructions",
                 Value::of(share, Unit::percent, {Source::binary, a.ground},
                           "(" + words::number(stores) + " + " + words::number(loads) + ") / " +
                               words::number(double(mix.total))),
                 "a warning from " + words::percent(kMany)),
        evidence("registers per thread", step.registers),
        evidence("local memory per thread (stack and spills)", step.local)};
    oppose(a, step, f);
    Analysis again = a;
    again.counters_request.clear();
    const std::string counters = a.predicted() ? "" : "--counters core,memory --replay kernel ";
    f.next_step = a.has_convention
                      ? attention_command(again, i.name, counters + "-o spills")
                      : collect_command(again, "", "spills",
                                        a.predicted() ? "" : "--counters core,memory --replay kernel");
    return f;
}

}  // namespace

std::vector<Finding> register_spills(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        std::set<std::string> told;
        for (const Step* step : weighty_kernels(*i))
            if (step->mix && local_share(*step->mix) >= kFew && told.insert(step->full_name).second)
                out.push_back(finding(a, *i, *step));
    }
    return out;
}

}  // namespace attnscope::rule
