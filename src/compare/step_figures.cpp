// One launch in two runs.
#include "figures.h"

namespace attnscope {

std::vector<FigurePair> step_figures(const Step* a, const Step* b) {
    using comparing::exact, comparing::measured, comparing::counter;
    static const Step nothing = [] {
        Step none;
        for (Value* value : {&none.registers, &none.shared, &none.local, &none.threads, &none.ctas,
                             &none.occupancy, &none.bytes, &none.time, &none.time_iqr})
            *value = Value::missing("not launched in this run");
        return none;
    }();
    const Step &x = a ? *a : nothing, &y = b ? *b : nothing;
    return {
        measured("time", "GPU time", x.time, x.time_iqr, y.time, y.time_iqr),
        counter("dram_bytes", "DRAM bytes", counter_role::kDramBytes, x.counters, y.counters),
        exact("bytes", "bytes", x.bytes, y.bytes),
        exact("ctas", "CTAs of the grid", x.ctas, y.ctas),
        exact("threads", "threads of a CTA", x.threads, y.threads),
        exact("registers", "registers", x.registers, y.registers),
        exact("shared", "shared memory", x.shared, y.shared),
        exact("local", "local memory", x.local, y.local),
        exact("occupancy", "theoretical occupancy", x.occupancy, y.occupancy),
        counter("achieved_occupancy", "achieved occupancy", counter_role::kAchievedOccupancy, x.counters,
                y.counters),
        counter("tensor_pipe", "tensor pipe", counter_role::kTensorPipe, x.counters, y.counters),
    };
}

}  // namespace attnscope
