#include <set>

#include "all.h"
#include "analysis/models.h"
#include "attnscope/sass.h"
#include "support.h"

namespace attnscope::rule {
namespace {

// FlashAttention-3 (arXiv 2407.08608): on H100, fp16 forward, FlashAttention-2 by mma.sync reaches 35% of the
// peak, FlashAttention-3 by wgmma up to 75% (740 TFLOP/s).
constexpr double kByMmaSync = 35, kByWgmma = 75;
constexpr const char* kPaper = "published for H100, 16 bits, forward: arXiv 2407.08608";

Value in_code(double number, const Analysis& a, std::string formula = {}) {
    return Value::of(number, Unit::count, {Source::binary, a.ground}, std::move(formula));
}

Value of_the_roof(const Value& roof, double percent, const Analysis& a) {
    return Value::of(
        *roof.number * percent / 100, Unit::flop_per_second, {Source::model, a.ground},
        words::percent(percent) + " (" + kPaper + ") x " + words::number(*roof.number / 1e12) + " TFLOP/s");
}

std::string next_command(const Analysis& a, const Implementation& i) {
    if (!a.has_convention)
        return collect_command(a, "", "tensor", a.predicted() ? "" : "--counters core,tensor");
    Analysis again = a;
    again.counters_request.clear();
    const std::string others = i.name == "sdpa_cudnn" ? i.name : i.name + ",sdpa_cudnn";
    return attention_command(again, others, a.predicted() ? "-o tensor" : "--counters core,tensor -o tensor");
}

/// The architecture's own way to its Tensor Cores, that mma.sync is not; empty: mma.sync is the way.
std::string faster_way(uint32_t major) {
    return major == 9 ? "wgmma" : major == 10 ? "tcgen05" : "";
}

bool by_mma_sync_alone(const Analysis& a, const Step& step) {
    const InstructionMix& mix = *step.mix;
    return a.device && !faster_way(a.device->major.value_or(0)).empty() && is_attention(step.role) &&
           mix.unknown == 0 && mix.count(InstructionClass::mma) > 0 &&
           mix.tensor() == mix.count(InstructionClass::mma);
}

Finding mma_sync(const Analysis& a, const Implementation& i, const Step& step) {
    const std::string way = faster_way(*a.device->major);
    const Value& roof = i.prediction.roof;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::info;
    f.claim = kernel_words(i, step) + " multiplies by mma.sync (" + tensor_words(*step.mix) +
              " in its code) and holds no " + way + ", this architecture's own way to its Tensor Cores";
    f.evidence = {evidence("mma.sync instructions", in_code(double(step.mix->count(InstructionClass::mma)), a,
                                                            tensor_words(*step.mix))),
                  evidence(way + " instructions", in_code(0, a))};
    if (way == "wgmma" && a.workload.element_bytes() == 2.0) {
        f.claim += ": FlashAttention-2, which does the same, was published to reach " +
                   words::percent(kByMmaSync) + " of an H100's peak, FlashAttention-3 with wgmma up to " +
                   words::percent(kByWgmma);
        if (roof) {
            f.evidence.push_back(evidence("roof", roof, i.prediction.roof_name));
            f.evidence.push_back(evidence("of it by mma.sync", of_the_roof(roof, kByMmaSync, a)));
            f.evidence.push_back(evidence("of it by wgmma", of_the_roof(roof, kByWgmma, a)));
        }
    }
    f.claim += ".";
    if (const Value& busy = counted(step.counters, counter_role::kTensorPipe))
        f.evidence.push_back(evidence("tensor pipe busy", busy));
    else
        f.counter_evidence.push_back("How busy the tensor pipe is was not " +
                                     std::string(a.predicted() ? "measured (virtual GPU)." : "counted."));
    f.counter_evidence.push_back(
        "The published shares are of long sequences: where the grid is small, the sequence short or memory "
        "the "
        "lower roof, both ways stay below them, and may be equal.");
    f.counter_evidence.push_back(
        "mma.sync runs on every GPU since sm_80 from one source: LibTorch's flash and efficient backends "
        "hold "
        "nothing else, as LibTorch ships them. Of its backends cuDNN alone chooses kernels of the "
        "architecture.");
    f.next_step = next_command(a, i);
    return f;
}

/// Kernels that multiply matrices; of flash, not those that prepare or merge.
bool multiplies(const Step& step) {
    if (step.role == Role::gemm) return true;
    if (!is_attention(step.role)) return false;
    using Part = AttentionKernelName::Part;
    return !step.decoded || step.decoded->part == Part::forward ||
           step.decoded->part == Part::split_forward || step.decoded->part == Part::backward;
}

bool none_at_all(const Analysis& a, const Implementation& i, const Step& step) {
    // Math in fp32 is off the Tensor Cores as well: math-upcast says so, and why.
    return a.workload.element_bytes() == 2.0 && i.backend != "math" && multiplies(step) &&
           step.mix->unknown == 0 && step.mix->total > 0 && step.mix->tensor() == 0;
}

Finding no_tensor(const Analysis& a, const Implementation& i, const Step& step) {
    const InstructionMix& mix = *step.mix;
    Finding f;
    f.subject = i.title;
    f.severity = Severity::warning;
    f.claim = kernel_words(i, step) + " computes " + a.workload.dtype +
              " products with no tensor instruction among " +
              words::plural(double(mix.total), "instruction") + ": they run on the CUDA cores";
    f.evidence = {evidence("tensor instructions", in_code(0, a)),
                  evidence("fp32 arithmetic", in_code(double(mix.count(InstructionClass::fp32)), a),
                           "FFMA, FMUL, FADD"),
                  evidence("packed 16-bit arithmetic", in_code(double(mix.count(InstructionClass::fp16)), a),
                           "HFMA2, HMUL2, HADD2")};
    if (a.device) {
        const Roofs roofs = roofs_of(*a.device, a.workload.dtype, a.ground);
        if (roofs.tensor && roofs.fp32 && *roofs.fp32.number > 0) {
            f.claim += ", whose fp32 peak is " + words::number(*roofs.fp32.number / 1e12) +
                       " TFLOP/s against " + words::number(*roofs.tensor.number / 1e12) +
                       " on the Tensor Cores";
            f.evidence.push_back(evidence("fp32 CUDA cores", roofs.fp32));
            f.evidence.push_back(evidence(a.workload.dtype + " Tensor Cores", roofs.tensor));
        }
    }
    f.claim += ".";
    f.counter_evidence = {
        "Where memory is the lower roof the products do not limit: one query against many keys (decoding) is "
        "such a case."};
    f.next_step = next_command(a, i);
    return f;
}

}  // namespace

std::vector<Finding> tensor_instructions(const Analysis& a) {
    std::vector<Finding> out;
    for (const Implementation* i : distinct(a)) {
        std::set<std::string> told;
        for (const Step* step : weighty_kernels(*i)) {
            if (!step->mix || told.count(step->full_name)) continue;
            if (by_mma_sync_alone(a, *step))
                out.push_back(mma_sync(a, *i, *step));
            else if (none_at_all(a, *i, *step))
                out.push_back(no_tensor(a, *i, *step));
            else
                continue;
            told.insert(step->full_name);
        }
    }
    return out;
}

}  // namespace attnscope::rule
