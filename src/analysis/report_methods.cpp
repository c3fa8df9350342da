#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
Row words_row(std::string quantity, std::string formula, std::string source) {
    Row r;
    r.id = quantity;
    r.cells = {words_cell(std::move(quantity)), words_cell(std::move(formula)),
               words_cell(std::move(source))};
    return r;
}

namespace {

/// The formula of the first implementation that has one, evaluated.
std::string example(const Analysis& a, Value Implementation::*member) {
    for (const Implementation& i : a.implementations)
        if ((i.*member) && !(i.*member).formula.empty())
            return " Here, " + i.title + ": " + (i.*member).formula + ".";
    return {};
}

}  // namespace

Table methods_table(const Analysis& a) {
    const bool predicted = a.predicted();
    Table t;
    t.id = "methods";
    t.title = "How each number was made";
    t.columns = {{"quantity", "quantity", "", "", false},
                 {"formula", "formula", "", "", false},
                 {"source", "source", "", "", false}};
    const bool under_counters = a.serialised_only && !predicted;
    const bool imported = a.ground == Ground::imported;
    const std::string launches = imported    ? "the imported file, as its profiler recorded them"
                                 : predicted ? "the virtual GPU's record of each launch of the real LibTorch"
                                 : under_counters ? "CUPTI's launch callbacks"
                                                  : "CUPTI Activity records";
    t.rows.push_back(words_row("kernels, copies, memsets",
                               "counted in one iteration; all iterations are checked to be equal", launches));
    t.rows.push_back(words_row("library calls", "counted by call; one or more kernels each",
                               predicted
                                   ? "the virtual GPU's cuBLAS, cuBLASLt and cuDNN"
                                   : "not separate on a real GPU: their kernels are counted as kernels"));
    t.rows.push_back(words_row("registers, static shared memory, local memory", "as they are",
                               predicted
                                   ? "the cubin in the library that this GPU would run, kernel by kernel"
                               : under_counters && !imported ? "the driver's function attributes"
                                                             : launches));
    t.rows.push_back(words_row("grid, block, dynamic shared memory", "as they are", launches));
    std::string occupancy = "CTAs per SM x warps per CTA / the SM's maximum of warps";
    for (const Implementation& i : a.implementations) {
        const Step* s = i.lowest_occupancy();
        if (!s || s->occupancy.number == 100.0) continue;
        occupancy +=
            ". Here, " + i.title + ": " + s->occupancy.formula + "; CTAs per SM: " + s->ctas_per_sm.formula;
        break;
    }
    t.rows.push_back(
        words_row("theoretical occupancy and its limiter", occupancy,
                  "the rules of cuda_occupancy.h (CUDA 13.0), with the opt-in limit of shared memory, "
                  "from the device's own limits"));
    t.rows.push_back(words_row("waves", "CTAs of the grid / (CTAs per SM x SMs)", "computed from the above"));
    t.rows.push_back(words_row("score bytes",
                               "scores x bytes that the kernels read (r) and write (w) for each." +
                                   example(a, &Implementation::score_bytes),
                               "a model: reads and writes of the launched kernels, without caches"));
    t.rows.push_back(words_row(
        "least bytes", "q, k, v read once, o written once." + example(a, &Implementation::least_bytes),
        "a bound: no implementation can move less"));
    t.rows.push_back(words_row("FLOP",
                               "4 x batch x heads x queries x keys x head_dim, half of it when causal." +
                                   example(a, &Implementation::flops),
                               "the convention of Dao-AILab/flash-attention's benchmark"));
    t.rows.push_back(words_row(
        "peak memory", "largest sum of allocated bytes since it was reset before the iterations",
        "LibTorch's caching allocator, reported by the program" +
            std::string(predicted ? "; a real cuBLAS or cuDNN may ask for another workspace" : "")));
    for (Row& counted : counter_methods(a)) t.rows.push_back(std::move(counted));
    if (predicted)
        t.rows.push_back(words_row("time", "none: nothing ran", "needs a real GPU"));
    else if (under_counters)
        t.rows.push_back(
            words_row("time",
                      "none: under counters kernels run one by one, and what they take then is not "
                      "the program's time",
                      "needs an undisturbed run: --timing separate"));
    else
        t.rows.push_back(words_row("time",
                                   "sum of end - start of an iteration's launches; median and interquartile "
                                   "range over iterations",
                                   a.two_collections ? "CUPTI Activity records of a second, undisturbed run"
                                                     : "CUPTI Activity records"));
    return t;
}

}  // namespace attnscope::parts
