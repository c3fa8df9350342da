#include <algorithm>
#include <cmath>

#include "report_parts.h"
#include "words.h"

namespace attnscope::parts {
namespace {

std::vector<const Implementation*> that_ran(const Analysis& a) {
    std::vector<const Implementation*> out;
    for (const Implementation& i : a.implementations)
        if (i.status == ImplementationStatus::ran && i.launches.number.value_or(0) > 0) out.push_back(&i);
    return out;
}

/// "sdpa_flash, sdpa_efficient and sdpa_cudnn launch least: 1 kernel or library call each. sdpa_math launches
/// most: 20."
std::string fewest(const std::vector<const Implementation*>& ran) {
    const auto less = [](const Implementation* x, const Implementation* y) {
        return *x->launches.number < *y->launches.number;
    };
    const Implementation* least = *std::min_element(ran.begin(), ran.end(), less);
    const Implementation* most = *std::max_element(ran.begin(), ran.end(), less);
    std::vector<std::string> names;
    for (const Implementation* i : ran)
        if (*i->launches.number == *least->launches.number && (i->name != "sdpa_auto" || ran.size() == 1))
            names.push_back(i->title);
    if (names.empty()) names.push_back(least->title);
    std::string text = words::join(names) + (names.size() == 1 ? " launches least: " : " launch least: ") +
                       words::number(*least->launches.number) +
                       (*least->launches.number == 1 ? " kernel or library call" : " launches") +
                       (names.size() == 1 ? "" : " each");
    if (*most->launches.number == *least->launches.number) return text + ".";
    const bool scores_stay = least->score_bytes.number == 0.0 && most->score_bytes.number.value_or(0) > 0;
    if (scores_stay) text += ", and no scores go through device memory";
    text += "; " + most->title + " launches " + words::number(*most->launches.number);
    if (scores_stay)
        text += " and by the model moves " + words::bytes(*most->score_bytes.number) + " of scores";
    return text + ".";
}

std::string fastest(const Analysis& a, const std::vector<const Implementation*>& ran) {
    const Implementation *first = nullptr, *last = nullptr;
    for (const Implementation* i : ran) {
        if (!i->time) continue;
        if (!first || *i->time.number < *first->time.number) first = i;
        if (!last || *i->time.number > *last->time.number) last = i;
    }
    if (!first)
        return a.serialised_only ? "The program's times are not known: it ran under counters alone, which "
                                   "run kernels one by one."
                                 : "No times are in the run: CUPTI gave none.";
    if (first == last || *first->time.number <= 0)
        return first->title + " takes " + words::milliseconds(*first->time.number) + " of GPU time.";
    return first->title + " is fastest: " + words::milliseconds(*first->time.number) + " of GPU time, " +
           words::number(*last->time.number / *first->time.number) + " times faster than " + last->title +
           ".";
}

std::string occupancy(const std::vector<const Implementation*>& ran) {
    const Implementation* lowest = nullptr;
    for (const Implementation* i : ran) {
        const Step* s = i->lowest_occupancy();
        if (s && i->name != "sdpa_auto" &&
            (!lowest || *s->occupancy.number < *lowest->lowest_occupancy()->occupancy.number))
            lowest = i;
    }
    std::string text;
    if (lowest && *lowest->lowest_occupancy()->occupancy.number < 50) {
        const Step& s = *lowest->lowest_occupancy();
        text = lowest->fused()
                   ? lowest->title + " runs at " + words::percent(*s.occupancy.number) +
                         " theoretical occupancy by design: "
                   : "The lowest theoretical occupancy is " + words::percent(*s.occupancy.number) + ", of " +
                         s.name + " (" + lowest->title + "): ";
        text += s.limiter + " leave room for " + words::plural(*s.ctas_per_sm.number, "CTA") + " on an SM, " +
                words::number(s.residency.warps_per_sm) + " of " +
                words::number(s.residency.max_warps_per_sm) + " warps";
        if (const Measured* tensor = find_role(s.counters, counter_role::kTensorPipe);
            tensor && tensor->value)
            text += "; its tensor pipe is busy " + words::say_with_ground(tensor->value) +
                    " of the active cycles";
    }
    return text;
}

/// "sdpa_flash runs at ...; left alone, LibTorch chooses flash here."
std::string occupancy_and_choice(const Analysis& a, const std::vector<const Implementation*>& ran) {
    std::string text = occupancy(ran);
    if (!a.choice.chosen.empty())
        text +=
            (text.empty() ? "Left" : "; left") + (" alone, LibTorch chooses " + a.choice.chosen) + " here";
    return text.empty() ? text : text + ".";
}

bool has_operations(const Implementation& i) {
    return std::any_of(i.steps.begin(), i.steps.end(),
                       [](const Step& s) { return !s.origin.operations.empty(); });
}

}  // namespace

std::vector<std::string> answer(const Analysis& a) {
    const auto ran = that_ran(a);
    const double launches = *a.total_kernels.number + *a.total_library_calls.number + *a.total_copies.number +
                            *a.total_memsets.number;
    if (launches == 0) return {"No comparison was made: the run holds no launches."};
    std::vector<std::string> out;
    if (ran.empty()) {
        out.push_back(
            "No comparison was made: no implementation ran to its end with the same launches in every "
            "iteration.");
        return out;
    }
    if (!a.has_convention) {
        out.push_back("The program launched " + words::plural(*a.total_kernels.number, "kernel") + ", " +
                      words::plural(*a.total_library_calls.number, "library call") + ", " +
                      words::plural(*a.total_copies.number, "copy") + " and " +
                      words::plural(*a.total_memsets.number, "memset") + ".");
    } else {
        if (!a.predicted())
            out.push_back(fastest(a, ran));
        else if (!a.rank.groups.empty())
            out.push_back(a.rank.sentence);
        out.push_back(fewest(ran));
    }
    if (std::string text = occupancy_and_choice(a, ran); !text.empty()) out.push_back(std::move(text));
    return out;
}

std::vector<std::string> cannot_tell(const Analysis& a) {
    std::vector<std::string> out;
    const std::vector<std::string> not_counted = uncounted(a);
    if (a.predicted()) {
        out.push_back("How long anything takes: nothing was measured, a virtual GPU has no time.");
        out.push_back(
            "Whether the tensor pipe is busy, how many bytes reach DRAM, what the caches keep: they need "
            "hardware counters of a real GPU.");
        if (*a.total_library_calls.number > 0)
            out.push_back("Which kernels cuBLAS and cuDNN choose, how many, and with what resources.");
        out.push_back("Whether the results are right: nothing was computed, so nothing was compared.");
    } else {
        if (!a.timed())
            out.push_back(
                a.serialised_only
                    ? "How long anything takes in the undisturbed program: it ran under counters alone."
                    : "How long anything takes: the records have no start and end.");
        if (a.counted() && *a.total_copies.number > 0)
            out.push_back("What copies move through DRAM: only kernels were counted.");
    }
    for (const std::string& sentence : not_counted)
        if (!a.predicted() || sentence.find("not measured: virtual GPU") == sentence.npos)
            out.push_back(sentence);
    if (!a.calls_absent.empty() &&
        std::none_of(a.implementations.begin(), a.implementations.end(), has_operations))
        out.push_back("Which operation launched what, and why a backend was chosen: " + a.calls_absent + ".");
    if (!a.counted())
        out.push_back("How many warps are really active: theoretical occupancy is an upper bound.");
    if (!a.uncomputed_reads.empty())
        out.push_back("What the program would have launched, had the values that it read been computed.");
    return out;
}

}  // namespace attnscope::parts
