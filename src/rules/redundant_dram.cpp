#include "all.h"
#include "support.h"

namespace attnscope::rule {
namespace {

/// attnscope's own thresholds: the counter sees other traffic too, and small runs are mostly that.
constexpr double kTimes = 2;
constexpr double kLeastExcess = 1 << 20;

Finding finding(const Analysis& a, const Implementation& i, const Value& counted_bytes) {
    const double bytes = *counted_bytes.number, least = *i.prediction.bytes.number;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::warning;
    f.claim =
        i.title + " moves " + words::say_with_ground(counted_bytes) + " through DRAM, " +
        words::number(bytes / least) +
        " times the least of its kernels, which is each input read once and each output written once: bytes "
        "are fetched again, or fetched and not used (uncoalesced).";
    f.evidence = {
        evidence("DRAM bytes, counted", counted_bytes,
                 "speaks above " + words::number(kTimes) + " x the least"),
        evidence("least bytes of its kernels", i.prediction.bytes),
        evidence("bytes above that", Value::of(bytes - least, Unit::bytes, counted_bytes.provenance,
                                               words::number(bytes) + " - " + words::number(least)))};
    const Step* worst = nullptr;
    for (const Step& step : i.steps) {
        const Value& dram = counted(step.counters, counter_role::kDramBytes);
        if (dram && (!worst || *dram.number > *counted(worst->counters, counter_role::kDramBytes).number))
            worst = &step;
    }
    if (worst && i.steps.size() > 1)
        f.evidence.push_back(
            evidence("most of it: " + worst->name, counted(worst->counters, counter_role::kDramBytes)));
    if (const Value& hits = i.counter("l2_hit_rate")) f.evidence.push_back(evidence("L2 hit rate", hits));
    if (const Value& local = i.counter("local_bytes"); local && *local.number > 0)
        f.evidence.push_back(evidence("local-memory bytes asked of L1", local, "register spills and arrays"));
    f.counter_evidence = {
        "DRAM counters see whatever else used the memory meanwhile, other processes included.",
        "Tiles of queries each read all keys and values: what the L2 cannot keep of them comes from DRAM "
        "more than once, by design."};
    Analysis again = a;
    again.counters_request.clear();
    f.next_step = a.has_convention
                      ? attention_command(again, i.name, "--counters core,memory --replay kernel -o bytes")
                      : collect_command(again, "", "bytes", "--counters core,memory --replay kernel");
    return f;
}

}  // namespace

std::vector<Finding> redundant_dram(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        const Value& bytes = i->counter(counter_role::kDramBytes);
        if (!bytes || !i->prediction.bytes) continue;
        const double least = *i->prediction.bytes.number;
        if (least > 0 && *bytes.number > kTimes * least && *bytes.number - least > kLeastExcess)
            out.push_back(finding(a, *i, bytes));
    }
    return out;
}

}  // namespace attnscope::rule
