#include "tally.h"

#include <string>

namespace attnscope::cupti_host {
namespace {

std::string number(uint64_t value) {
    return std::to_string(value);
}

std::string launches(const Case& one) {
    const std::string what = one.of_range ? "range" : "launch";
    return one.count == 1 ? what + " " + number(one.id)
                          : number(one.count) + " launches or ranges, first " + what + " " + number(one.id);
}

void write(Trouble why, const Case& one, const HostApi& api, LineWriter& lines) {
    constexpr const char* kAgain = "run the program again";
    switch (why) {
        case Trouble::unjoined:
            return lines.diagnostic("data_loss", "counters-unjoined",
                                    launches(one) + ": CUPTI counted " + number(one.found) +
                                        " ranges where " + number(one.expected) +
                                        " kernels were launched, so no value is given",
                                    "a library launched kernels that no callback shows (OptiX does), or a "
                                    "launch failed; use --range implementation for a value of the whole",
                                    one.count);
        case Trouble::dropped:
            return lines.diagnostic(
                "data_loss", "counters-dropped",
                launches(one) + ": CUPTI dropped " + number(one.found) + " ranges, so no value is given",
                "launch fewer kernels in one graph, or use --range implementation", one.count);
        case Trouble::graph_order:
            return lines.diagnostic("warning", "counters-graph-order",
                                    launches(one) + ": the order of the graph's " + number(one.expected) +
                                        " kernels is not known, so their values cannot be told apart",
                                    "use --range implementation for a value of the whole", one.count);
        case Trouble::no_config:
            return lines.diagnostic("data_loss", "counters-undecodable",
                                    launches(one) +
                                        ": the config image in the run's counters folder is "
                                        "missing or damaged",
                                    "restore counters/*.config of this run, then evaluate again; else "
                                    "run the program again",
                                    one.count);
        case Trouble::damaged:
            return lines.diagnostic("data_loss", "counters-undecodable",
                                    launches(one) + ": the raw data differs from its checksum", kAgain,
                                    one.count);
        case Trouble::foreign:
            return lines.diagnostic(
                "data_loss", "counters-undecodable",
                launches(one) + ": the raw data is the virtual GPU's, and another CUPTI evaluates it",
                "name the virtual GPU's libcupti in ATTNSCOPE_CUPTI and evaluate again", one.count);
        case Trouble::refused:
            return lines.diagnostic("data_loss", "counters-undecodable",
                                    launches(one) + ": CUPTI cannot evaluate the raw data: " +
                                        api.describe(static_cast<CUptiResult>(one.result)),
                                    "evaluate again with the CUPTI that the program used, or run it again",
                                    one.count);
        case Trouble::crashed:
            return lines.diagnostic("data_loss", "counters-undecodable",
                                    launches(one) + ": CUPTI crashed or hung over the raw data (signal " +
                                        number(static_cast<uint64_t>(one.result)) + ")",
                                    "evaluate again with the CUPTI that the program used, or run it again",
                                    one.count);
        case Trouble::count:
            return;
    }
}

}  // namespace

void write_diagnostics(const HostApi& api, const Tally& tally, LineWriter& lines) {
    if (tally.unread != 0)
        lines.diagnostic("data_loss", "counters-undecodable",
                         "the raw counter data is " + std::string(tally.damaged ? "damaged" : "cut short") +
                             ": its last " + number(tally.unread) + " bytes cannot be read",
                         tally.damaged ? "run the program again"
                                       : "the program was killed, or the disk was full: run it again",
                         1);
    for (int why = 0; why < static_cast<int>(Trouble::count); ++why)
        if (tally.cases[why].count != 0) write(static_cast<Trouble>(why), tally.cases[why], api, lines);
    if (tally.other_cupti != 0)
        lines.diagnostic("info", "counters-other-cupti",
                         "the raw counter data was configured by CUPTI " + number(tally.other_cupti) +
                             " and evaluated by CUPTI " + number(api.version),
                         "where a value surprises, evaluate again with the CUPTI that the program used", 1);
}

}  // namespace attnscope::cupti_host
