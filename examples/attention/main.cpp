// One attention problem through every implementation LibTorch offers; each in its own NVTX range, warm-up
// apart.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include "attnscope/error.h"
#include "choice.h"
#include "implementations.h"
#include "marks.h"

namespace attention {
namespace {

/// The record `attnscope.workload` of schema/README.md.
nlohmann::json describe(const AttentionProblem& o) {
    return {{"batch", o.batch},
            {"heads", o.heads},
            {"kv_heads", o.kv_heads},
            {"query_length", o.query_length},
            {"key_length", o.key_length},
            {"head_dim", o.head_dim},
            {"dtype", o.dtype},
            {"causal", o.causal},
            {"mask", to_string(o.mask)},
            {"transposed", o.transposed},
            {"last_stride", o.last_stride},
            {"contiguous", o.contiguous},
            {"repeat_kv", o.repeat_kv},
            {"backward", o.backward},
            {"dropout", o.dropout},
            {"layers", o.layers},
            {"deterministic", o.deterministic},
            {"reduced_precision_math", o.reduced_math},
            {"warmup", o.warmup},
            {"iterations", o.iterations},
            {"torch", TORCH_VERSION},
            {"language", "c++"}};
}

/// Values exist only where kernels really run; the virtual GPU computes nothing.
bool computes() {
    return std::getenv("ATTNSCOPE_VIRTUAL_DEVICES") == nullptr;
}

const c10::CachingDeviceAllocator::Stat& allocated(const c10::CachingDeviceAllocator::DeviceStats& stats) {
    return stats.allocated_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
}

at::Tensor iterate(const Implementation& implementation, Inputs& in, const AttentionProblem& o) {
    c10::AutoGradMode gradients(o.backward);
    for (at::Tensor* leaf : {&in.query, &in.key, &in.value})
        leaf->mutable_grad() = at::Tensor();  // else the second iteration adds to the first one's gradients
    at::Tensor output;
    Inputs layer = in;
    for (int i = 0; i < o.layers; ++i) {
        if (o.contiguous)
            for (at::Tensor* tensor : {&layer.query, &layer.key, &layer.value})
                *tensor = tensor->contiguous();
        output = implementation.compute(layer, o);
        layer = in;
        layer.query = output;
    }
    if (o.backward) output.backward(in.gradient);
    c10::cuda::device_synchronize();
    return output.detach();
}

nlohmann::json run(const Implementation& implementation, Inputs& in, const AttentionProblem& o,
                   at::Tensor& output) {
    nlohmann::json result = {{"name", implementation.name}};
    const std::string backend = implementation.backend;
    BackendGuard guard(backend);
    if (!backend.empty()) result["backend"] = backend;
    if (std::string why = refusal(backend, make_shadows(o), o); !why.empty()) {
        result["status"] = "refused";
        result["reason"] = why;
        return result;
    }
    WarningCollector warnings;
    try {
        ProcessRange range("attnscope.implementation/" + std::string(implementation.name));
        for (int i = 0; i < o.warmup; ++i) {
            ProcessRange warmup("attnscope.warmup");
            iterate(implementation, in, o);
        }
        const auto device = c10::cuda::current_device();
        c10::cuda::CUDACachingAllocator::resetPeakStats(device);
        result["allocated_before_bytes"] =
            allocated(c10::cuda::CUDACachingAllocator::getDeviceStats(device)).current;
        for (int i = 0; i < o.iterations; ++i) {
            ProcessRange iteration("attnscope.iteration");
            output = iterate(implementation, in, o);
        }
        result["peak_allocated_bytes"] =
            allocated(c10::cuda::CUDACachingAllocator::getDeviceStats(device)).peak;
        result["status"] = "ran";
    } catch (const c10::Error& e) {
        result["status"] = "failed";
        result["reason"] = e.what_without_backtrace();
    } catch (const std::exception& e) {
        result["status"] = "failed";
        result["reason"] = e.what();
    }
    return result;
}

/// Equal results first, speed second: the largest difference to the math backend (it computes in fp32), else
/// to the first that ran. NaN and infinities, which no difference can tell of, are counted. The records are
/// written again, completed: a reader keeps the last.
void compare(std::vector<nlohmann::json>& results, const std::map<std::string, at::Tensor>& outputs) {
    if (outputs.empty()) return;
    auto reference = outputs.find("sdpa_math");
    if (reference == outputs.end()) reference = outputs.begin();
    const at::Tensor reference_is_finite = reference->second.isfinite();
    for (nlohmann::json& result : results) {
        const auto output = outputs.find(result["name"]);
        if (output == outputs.end()) continue;
        const at::Tensor is_finite = output->second.isfinite();
        result["non_finite_elements"] = is_finite.logical_not().sum().item<int64_t>();
        if (output != reference) {
            const at::Tensor both = is_finite.logical_and(reference_is_finite);
            result["max_abs_difference"] = (output->second - reference->second)
                                               .abs()
                                               .masked_fill(both.logical_not(), 0)
                                               .max()
                                               .item<float>();
            result["compared_with"] = reference->first;
        }
        mark("implementation", result);
    }
}

int run_all(const AttentionProblem& o) {
    if (c10::cuda::device_count() == 0) {
        std::fprintf(stderr,
                     "attention_workload: no CUDA device is visible: run it under `attnscope attention`, "
                     "which brings a virtual GPU where there is no real one\n");
        return 2;
    }
    mark("workload", describe(o));
    at::globalContext().setDeterministicAlgorithms(o.deterministic, false);
    at::globalContext().setAllowFP16BF16ReductionMathSDP(o.reduced_math);
    mark("choice", ask_choice(make_shadows(o), o));
    if (o.choice_only) return 0;
    Inputs in = make_inputs(o);

    std::map<std::string, at::Tensor> outputs;
    std::vector<nlohmann::json> results;
    int ran = 0;
    std::vector<const Implementation*> order;
    for (const Implementation& implementation : implementations())
        if (o.only.empty() || std::find(o.only.begin(), o.only.end(), implementation.name) != o.only.end())
            order.push_back(&implementation);
    for (const Implementation* implementation : order) {
        at::Tensor output;
        nlohmann::json result = run(*implementation, in, o, output);
        if (result["status"] == "ran") {
            ++ran;
            if (computes()) outputs[implementation->name] = output.to(at::kCPU).to(at::kFloat);
        }
        std::printf("%-15s %s%s%s\n", implementation->name, result["status"].get<std::string>().c_str(),
                    result.contains("reason") ? ": " : "",
                    result.contains("reason") ? result["reason"].get<std::string>().c_str() : "");
        std::fflush(stdout);
        mark("implementation", result);
        results.push_back(result);
    }
    compare(results, outputs);
    return ran > 0 ? 0 : 1;
}

}  // namespace
}  // namespace attention

int main(int argc, char** argv) {
    try {
        attnscope::AttentionProblem problem;
        if (const auto code = attnscope::parse_attention(argc, argv, problem)) return *code;
        return attention::run_all(problem);
    } catch (const attnscope::Error& e) {
        std::fprintf(stderr, "attention_workload: %s\n", e.what());
        return static_cast<int>(e.exit());
    } catch (const c10::Error& e) {
        std::fprintf(stderr, "attention_workload: %s\n", e.what_without_backtrace());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "attention_workload: %s\n", e.what());
    }
    return 1;
}
