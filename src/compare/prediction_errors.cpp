// Each predicted figure beside its measurement.
#include "attnscope/compare.h"
#include "figures.h"
#include "findings.h"

namespace attnscope {
namespace {

using Claim = PredictionError::Claim;
using comparing::exact;

/// One implementation: what was predicted of it, and what was measured.
class Held {
  public:
    Held(const ImplementationPair& pair, bool a_predicted, std::vector<PredictionError>& out)
        : pair_(pair),
          predicted_(a_predicted ? *pair.a : *pair.b),
          measured_(a_predicted ? *pair.b : *pair.a),
          a_predicted_(a_predicted),
          out_(out) {}

    void against_each_other() {
        own_kernels();
        add({}, Claim::exact, "copies", "copies", measured_.copies, predicted_.copies);
        add({}, Claim::exact, "copied_bytes", "copied bytes", measured_.copied_bytes,
            predicted_.copied_bytes);
        add({}, Claim::exact, "memsets", "memsets", measured_.memsets, predicted_.memsets);
        add({}, Claim::exact, "peak_memory", "peak memory", measured_.peak_memory, predicted_.peak_memory);
        const Prediction& model = predicted_.prediction;
        add({}, Claim::at_least, "bound", "time bound", measured_.time, model.bound);
        if (measured_.copies.number == 0.0)  // copies are not counted
            add({}, Claim::at_least, "least_dram_bytes", "least DRAM bytes",
                measured_.counter(counter_role::kDramBytes), model.dram_bytes);
        add({}, Claim::at_least, "least_memory", "least peak memory", measured_.peak_memory,
            model.least_memory);
        for (const StepPair& s : pair_.steps)
            if (s.a >= 0 && s.b >= 0 && (s.change == StepChange::same || s.change == StepChange::changed))
                kernel(s);
    }

  private:
    /// What a library launches for a call is no prediction of ours.
    void own_kernels() {
        double predicted = 0, measured = 0;
        for (const StepPair& s : pair_.steps) {
            const Step* p = predicted_step(s);
            const Step* m = measured_step(s);
            if (p && p->is_kernel()) predicted += double(p->times);
            if (m && m->is_kernel() && s.change != StepChange::resolved) measured += double(m->times);
        }
        const auto count = [](double n, const Value& of) {
            return Value::of(n, Unit::count, {Source::computed, of.provenance.ground});
        };
        add({}, Claim::exact, "own_kernels", "kernels outside of library calls",
            count(measured, measured_.kernels), count(predicted, predicted_.kernels));
    }

    void kernel(const StepPair& s) {
        const Step &p = *predicted_step(s), &m = *measured_step(s);
        if (!p.is_kernel() || !m.is_kernel()) return;
        add(p.name, Claim::exact, "ctas", "CTAs of a grid", m.ctas, p.ctas);
        add(p.name, Claim::exact, "threads", "threads of a CTA", m.threads, p.threads);
        add(p.name, Claim::exact, "registers", "registers of a kernel", m.registers, p.registers);
        add(p.name, Claim::exact, "shared", "shared memory of a CTA", m.shared, p.shared);
        add(p.name, Claim::exact, "local", "local memory of a thread", m.local, p.local);
        add(p.name, Claim::exact, "occupancy", "theoretical occupancy", m.occupancy, p.occupancy);
        if (const Measured* achieved = find_role(m.counters, counter_role::kAchievedOccupancy))
            add(p.name, Claim::at_most, "achieved_occupancy", "theoretical occupancy as a limit",
                achieved->value, p.occupancy);
    }

    const Step* predicted_step(const StepPair& s) const {
        return a_predicted_ ? pair_.step_of_a(s) : pair_.step_of_b(s);
    }
    const Step* measured_step(const StepPair& s) const {
        return a_predicted_ ? pair_.step_of_b(s) : pair_.step_of_a(s);
    }

    void add(const std::string& kernel, Claim claim, const char* id, const char* title, const Value& measured,
             const Value& predicted) {
        if (measured && predicted)
            out_.push_back({claim, predicted_.title, kernel, exact(id, title, measured, predicted)});
    }

    const ImplementationPair& pair_;
    const Implementation &predicted_, &measured_;
    const bool a_predicted_;
    std::vector<PredictionError>& out_;
};

}  // namespace

bool PredictionError::holds() const {
    switch (claim) {
        case Claim::exact:
            return *figure.b.number == *figure.a.number;
        case Claim::at_least:
            return *figure.b.number <= *figure.a.number;
        case Claim::at_most:
            return *figure.b.number >= *figure.a.number;
    }
    return false;
}

std::vector<PredictionError> prediction_errors(const Comparison& c, std::string& absent) {
    std::vector<PredictionError> out;
    if (!c.reality_against_prediction())
        absent = c.a->predicted() ? "both runs are predictions" : "neither run is a prediction";
    else if (!c.inputs.empty())
        absent = "the inputs are not the same: " + comparing::in_words(c.inputs);
    else if (!c.machine.empty() && c.machine.front().what == "GPU")
        absent = "the GPUs are not the same: " + comparing::in_words(c.machine);
    if (!absent.empty()) return out;
    for (const ImplementationPair& p : c.pairs)
        if (!p.a->steps.empty() && !p.b->steps.empty()) Held(p, c.a->predicted(), out).against_each_other();
    if (out.empty()) absent = "the runs share no figure";
    return out;
}

}  // namespace attnscope
