#include "models.h"

#include <algorithm>
#include <cmath>

#include "attnscope/gpu.h"
#include "attnscope/kernel_name.h"
#include "models_parts.h"
#include "words.h"

namespace attnscope {
namespace {

constexpr const char* kNoShape = "the program did not mark its shape (attnscope.workload)";

bool is_fp32(const std::string& type) {
    for (const char* word : {"fp32", "f32", "float32", "CUDA_R_32F", "R_32F", "float", "32F"})
        if (type == word) return true;
    return false;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// Math attention in 16 bits without the upcast (setAllowFP16BF16ReductionMathSDP): its products are seen not
/// to be fp32.
bool keeps_precision(const Implementation& implementation) {
    bool products = false;
    for (const Step& step : implementation.steps) {
        if (step.role != Role::gemm) continue;
        if (step.call) {
            const std::string* type = step.call->attribute("type_a");
            if (!type || is_fp32(*type)) return false;
        } else if (!has(step.full_name, "bf16") && !has(step.full_name, "16816") &&
                   !has(step.full_name, "h16") && !has(step.full_name, "f16")) {
            return false;
        }
        products = true;
    }
    return products;
}

/// Products of fp32 inputs on the tensor cores (allow_tf32).
bool uses_tf32(const Implementation& implementation) {
    for (const Step& step : implementation.steps) {
        if (step.role != Role::gemm) continue;
        const std::string* type = step.call ? step.call->attribute("compute_type") : nullptr;
        if (type ? has(*type, "tf32") || has(*type, "TF32")
                 : has(step.full_name, "tf32") || has(step.full_name, "s1688gemm"))
            return true;
    }
    return false;
}

void take_reported(Value& figure, const std::optional<uint64_t>& reported, Unit unit, Ground ground) {
    if (!reported || *reported == 0) return;
    figure = Value::of(double(*reported), unit, {Source::reported, ground}, "reported by the device");
}

/// Of all attentions of an iteration, from one's.
void repeat(Value& figure, double layers) {
    if (!figure || layers == 1) return;
    figure = models::checked(*figure.number * layers, figure.unit, figure.provenance,
                             words::number(layers) + " attentions x (" + figure.formula + ")");
}

bool same_shape(const AttentionShape& a, const AttentionShape& b) {
    return a.batch == b.batch && a.heads == b.heads && a.kv_heads == b.kv_heads &&
           a.query_length == b.query_length && a.key_length == b.key_length && a.head_dim == b.head_dim &&
           a.dtype == b.dtype && a.causal == b.causal && a.pass == b.pass;
}

}  // namespace

std::optional<AttentionShape> shape_of(const Workload& w) {
    if (!w.has_shape()) return std::nullopt;
    AttentionShape s{*w.batch, *w.heads, *w.kv_heads, *w.query_length, *w.key_length, *w.head_dim, w.dtype};
    s.causal = w.causal.value_or(false);
    s.masked_fill = w.mask == "boolean" || w.mask == "bool";
    s.additive_mask = !s.masked_fill && w.masked() && !s.causal;
    s.pass = w.backward.value_or(false) ? Pass::both : Pass::forward;
    return s;
}

std::optional<Method> method_of(const Implementation& i) {
    if (i.backend == "math") return keeps_precision(i) ? Method::math_reduced : Method::math;
    if (!i.backend.empty()) return method_of(i.backend);
    // A clone is seen in its steps; before there are any, the name says what attnscope's own program does.
    if (i.name == "naive" || i.name == "naive_inplace") return method_of(i.name);
    return std::nullopt;
}

std::optional<Tile> tile_of(const Implementation& i) {
    for (const Step& step : i.steps) {
        if (!is_attention(step.role)) continue;
        const auto name = attention_kernel_name(step.full_name);
        if (!name || name->part != AttentionKernelName::Part::forward) continue;
        if (!name->block_queries || !name->block_keys) return std::nullopt;
        // A bucket of 65536 stands for any head dimension, walked in steps.
        const double width = name->head_dim && *name->head_dim <= 256 ? *name->head_dim : 0;
        return Tile{double(*name->block_queries), double(*name->block_keys),
                    name->library == AttentionKernelName::Library::efficient ? 0 : width};
    }
    return std::nullopt;
}

const Gpu* known_gpu(const Device& device) {
    const Gpu* gpu = device.id.empty() ? nullptr : find_gpu(device.id);
    return gpu || device.name.empty() ? gpu : find_gpu(device.name);
}

Roofs roofs_of(const Device& device, const std::string& dtype, Ground ground) {
    Roofs r;
    if (const Gpu* gpu = known_gpu(device)) {
        r = roofs_of(*gpu, dtype, ground);
    } else {
        const std::string why = "no peaks are known of " +
                                (device.name.empty() ? std::string("this GPU") : device.name) +
                                " (ATTNSCOPE_GPUS names a table with them)";
        r.gpu = device.name;
        for (Value* v : {&r.tensor, &r.tf32, &r.fp32})
            *v = Value::missing(why, Unit::flop_per_second, {Source::model, ground});
        r.dram = Value::missing(why, Unit::bytes_per_second, {Source::model, ground});
        r.exponentials = Value::missing(why, Unit::count, {Source::model, ground});
        r.l2 = Value::missing(why, Unit::bytes, {Source::model, ground});
    }
    if (device.major) r.major = int(*device.major);
    if (ground != Ground::virtual_gpu) {
        take_reported(r.dram, device.dram_bytes_per_second, Unit::bytes_per_second, ground);
        take_reported(r.l2, device.l2_bytes, Unit::bytes, ground);
    }
    return r;
}

void set_models(Implementation& out, const Workload& workload, const Device* device, Ground ground) {
    const Provenance model{Source::model, ground}, computed{Source::computed, ground};
    const auto shape = shape_of(workload);
    const auto method = method_of(out);
    const bool ran =
        out.status != ImplementationStatus::refused && out.status != ImplementationStatus::failed;
    const auto missing = [&](const std::string& why) {
        out.least_bytes = out.score_bytes = Value::missing(why, Unit::bytes, model);
        out.flops = Value::missing(why, Unit::flop, computed);
        Prediction& p = out.prediction;
        p.least_bytes = Value::missing(why, Unit::bytes, model);
        for (Value* v : models::modelled_bytes(p)) *v = Value::missing(why, Unit::bytes, model);
        p.useful_flops = p.executed_flops = Value::missing(why, Unit::flop, model);
        p.intensity = p.ridge = Value::missing(why, Unit::none, model);
        p.roof = Value::missing(why, Unit::flop_per_second, model);
        for (Value* v : {&p.memory_time, &p.compute_time, &p.exponential_time, &p.bound})
            *v = Value::missing(why, Unit::nanoseconds, model);
    };
    missing(kNoShape);
    if (!shape) return;
    if (!shape->element_bytes() || !workload.causal) {
        if (workload.causal) out.flops = useful_flops(*shape, out.fused(), ground);
        repeat(out.flops, workload.layer_count());
        return;
    }
    if (!method) {
        missing("no model of this implementation");
        out.least_bytes = least_bytes(*shape, ground);
        out.flops = useful_flops(*shape, out.fused(), ground);
        for (Value* v : {&out.least_bytes, &out.flops}) repeat(*v, workload.layer_count());
        if (!ran) out.score_bytes = Value::missing("it did not run", Unit::bytes, model);
        return;
    }
    const Roofs roofs = roofs_of(device ? *device : Device{}, shape->dtype, ground);
    out.prediction = predict(*shape, *method, roofs, ground, tile_of(out), uses_tf32(out));
    Prediction& p = out.prediction;
    // Not the memory: one attention's is the least also where several follow one another.
    for (Value* v :
         {&p.useful_flops, &p.executed_flops, &p.least_bytes, &p.score_bytes, &p.bytes, &p.dram_bytes,
          &p.tile_bytes, &p.register_scores, &p.memory_time, &p.compute_time, &p.exponential_time, &p.bound})
        repeat(*v, workload.layer_count());
    for (ModelKernel& kernel : p.kernels) kernel.bound *= workload.layer_count();
    out.least_bytes = out.prediction.least_bytes;
    out.flops = out.prediction.useful_flops;
    out.score_bytes = out.prediction.score_bytes;
    if (!ran) out.score_bytes = Value::missing("it did not run", Unit::bytes, model);
}

Value share_of_bound(const Value& bound, const Value& time) {
    const Provenance from{Source::model, weaker(bound.provenance.ground, time.provenance.ground)};
    if (!bound) return Value::missing(bound.absent, Unit::percent, from);
    if (!time) return Value::missing(time.absent, Unit::percent, from);
    if (!(*time.number > 0)) return Value::missing("a time of 0", Unit::percent, from);
    return Value::of(
        100 * *bound.number / *time.number, Unit::percent, from,
        "100 x bound " + words::milliseconds(*bound.number) + " / time " + words::milliseconds(*time.number));
}

Value share_of_bound(const Implementation& i) {
    return share_of_bound(i.prediction.bound, i.time);
}

Value published_time(const Analysis& a, const Implementation& i) {
    const auto none = [](const char* why) {
        return Value::missing(why, Unit::nanoseconds, {Source::reported, Ground::imported});
    };
    const auto shape = shape_of(a.workload);
    const Gpu* gpu = a.device ? find_gpu(a.device->id.empty() ? a.device->name : a.device->id) : nullptr;
    const auto method = method_of(i);
    if (!shape || !gpu || !method || shape->additive_mask || shape->masked_fill ||
        a.workload.layer_count() != 1)
        return none("no published time is of this workload");
    for (const PublishedTime& p : published_times())
        if (p.gpu == gpu->id && p.method == *method && p.causal_known && p.nanoseconds &&
            same_shape(p.shape, *shape))
            return p.time();
    return none("no published time is of this shape on this GPU");
}

Rank rank_of(const Analysis& a) {
    std::vector<RankEntry> entries;
    for (const Implementation& i : a.implementations) {
        if (i.status != ImplementationStatus::ran || i.name == "sdpa_auto") continue;
        RankEntry e{i.title, i.prediction.bound, i.time, i.time_iqr, "measured"};
        if (!e.time) {
            if (Value published = published_time(a, i)) {
                e.time_from = "published: " + published.formula;
                e.time = std::move(published);
            }
        }
        entries.push_back(std::move(e));
    }
    return rank(entries);
}

}  // namespace attnscope
