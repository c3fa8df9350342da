// Roofs of a GPU, and the bounds under them.
#include <algorithm>
#include <cmath>

#include "attnscope/gpu.h"
#include "models_parts.h"
#include "words.h"

namespace attnscope {
namespace {

using models::n;

std::string lower(double value, const char* unit, double scale) {
    return n(value / scale) + " " + unit;
}

Value figure(const Gpu& gpu, const std::string& key, Unit unit, Provenance from, std::string& assumed,
             const std::string& otherwise) {
    const Figure* f = gpu.figure(key);
    if (!f) return Value::missing(otherwise, unit, from);
    if (f->assumed) assumed += (assumed.empty() ? "" : ", ") + key;
    return Value::of(f->value, unit, from, f->source);
}

/// What a kernel takes at least, by the three roofs, in ns; absent ones do not count.
struct KernelTime {
    double memory = 0, compute = 0, exponentials = 0;
    double longest() const { return std::max({memory, compute, exponentials}); }
    const char* binds() const {
        return compute >= memory && compute >= exponentials ? "compute"
               : exponentials > memory                      ? "exponentials"
                                                            : "memory";
    }
};

struct Sums {
    double bytes = 0, dram = 0, flops = 0;
    double memory = 0, compute = 0, exponentials = 0, longest = 0;
    double by[3] = {};  // of `longest`: memory, compute, exponentials
};

/// The L2 may hold what the kernel reads first, and what it writes last.
double beyond(double bytes, double l2) {
    return std::max(0.0, bytes - l2);
}

const char* tensor_name(const std::string& dtype) {
    return dtype == "fp16" ? "fp16 tensor cores" : "bf16 tensor cores";
}

struct RoofChoice {
    Value peak;
    std::string name;
};

/// Where a method's products run.
RoofChoice roof_of(const AttentionShape& s, Method method, const Roofs& roofs, bool tf32_products,
                   Provenance from) {
    const bool fp32 = s.dtype == "fp32" || method == Method::math;
    if (!fp32) return {roofs.tensor, tensor_name(s.dtype)};
    if (method == Method::efficient && roofs.major >= 8) {
        // CUTLASS' OpMultiplyAddFastF32 (PyTorch, kernel_forward.h): an fp32 product is three TF32 products.
        if (!roofs.tf32) return {roofs.tf32, "TF32 tensor cores, three products for one"};
        return {Value::of(*roofs.tf32.number / 3, Unit::flop_per_second, from,
                          n(*roofs.tf32.number / 1e12) + " TFLOP/s in TF32 / 3 products (" +
                              roofs.tf32.formula + ")"),
                "TF32 tensor cores, three products for one"};
    }
    if (is_fused(method) && method != Method::efficient)
        return {Value::missing("this backend takes no fp32", Unit::flop_per_second, from), "none"};
    if (tf32_products) return {roofs.tf32, "TF32 tensor cores"};
    return {roofs.fp32, "fp32 CUDA cores"};
}

void set_residence(Prediction& p, const AttentionShape& s, const Roofs& roofs, double element, double score,
                   bool scores_move) {
    if (!roofs.l2) return;
    const double tensors = element * 2 * (models::query_elements(s) + models::key_elements(s));
    // Input and output of a step over the scores live at once.
    const double working = tensors + (scores_move ? 2 * score * models::scores(s) : 0);
    p.l2_resident = working <= *roofs.l2.number;
    p.l2_note = (p.l2_resident ? "L2-resident: may not reach DRAM: " : "larger than the L2: ") +
                words::bytes(working) + " of " +
                (scores_move ? "q, k, v, o and two score matrices" : "q, k, v, o") + " against " +
                words::bytes(*roofs.l2.number) + " of L2";
}

/// What a fused kernel moves inside the chip, by its tile.
void set_on_chip(Prediction& p, const AttentionShape& s, Method method, const std::optional<Tile>& tile,
                 double element) {
    const Provenance model{Source::model, p.score_bytes.provenance.ground};
    const auto missing = [&](const std::string& why) {
        p.tile_bytes = p.register_scores = Value::missing(why, Unit::bytes, model);
    };
    if (!is_fused(method)) return missing("its scores go through memory, its products are a library's");
    if (method == Method::cudnn) return missing("its kernels are closed");
    if (s.pass != Pass::forward) return missing("modelled for the forward pass alone");
    if (!p.executed_flops) return missing(p.executed_flops.absent);
    const double visited = models::tiled_scores(s, *tile);
    const std::string tiles = n(visited) + " scores in tiles of " + n(tile->queries) + " x " + n(tile->keys);
    const double loaded = models::tile_elements(s, method, *tile);
    p.tile_bytes = models::checked(
        loaded * element, Unit::bytes, model,
        n(loaded) + " elements of q, k and v x " + n(element) + " bytes: " + tiles +
            (method == Method::efficient ? ", q loaded for each" : ", q loaded once for a row of them"));
    p.register_scores = models::checked(4 * visited, Unit::bytes, model, "4 bytes (fp32) x " + tiles);
}

Value nanoseconds(double seconds_numerator, double rate, Provenance from, std::string formula) {
    return Value::of(seconds_numerator / rate * 1e9, Unit::nanoseconds, from, std::move(formula));
}

}  // namespace

const char* to_string(Method method) {
    static constexpr const char* names[] = {"unfused",      "naive", "naive_inplace", "math",
                                            "math_reduced", "flash", "efficient",     "cudnn"};
    return names[static_cast<size_t>(method)];
}

std::optional<Method> method_of(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(Method::cudnn); ++i)
        if (name == to_string(static_cast<Method>(i))) return static_cast<Method>(i);
    return std::nullopt;
}

bool is_fused(Method method) {
    return method == Method::flash || method == Method::efficient || method == Method::cudnn;
}

Roofs roofs_of(const Gpu& gpu, std::string_view dtype, Ground ground) {
    const Provenance from{Source::model, ground};
    Roofs r;
    r.gpu = gpu.id;
    r.major = gpu.major;
    const auto get = [&](const std::string& key, Unit unit, const std::string& otherwise) {
        return figure(gpu, key, unit, from, r.assumed, otherwise);
    };
    r.dram = get("dram_bytes_per_second", Unit::bytes_per_second, "the GPU table has no DRAM bandwidth");
    r.l2 = get("l2_cache_size", Unit::bytes, "the GPU table has no L2 size");
    r.fp32 = get("flops_fp32", Unit::flop_per_second, "the GPU table has no fp32 peak");
    r.tf32 = get("flops_tensor_tf32", Unit::flop_per_second, gpu.id + " has no TF32 peak in the GPU table");
    if (dtype == "bf16" || dtype == "fp16")
        r.tensor = get("flops_tensor_" + std::string(dtype), Unit::flop_per_second,
                       gpu.id + " has no " + std::string(dtype) + " tensor peak in the GPU table");
    else
        r.tensor = Value::missing("tensor cores take no " + std::string(dtype), Unit::flop_per_second, from);
    const Value mufu = get("mufu_per_clock_per_multiprocessor", Unit::count, "no MUFU rate is known");
    const Value sms = get("multiprocessor_count", Unit::count, "the number of SMs is not known");
    const Value clock = get("clock_rate", Unit::count, "the clock is not known");  // kHz, the highest
    const Figure* clock_figure = gpu.figure("clock_rate");
    const char* assumed = clock_figure && clock_figure->assumed ? " GHz (assumed)" : " GHz";
    for (const Value* part : {&mufu, &sms, &clock})
        if (!*part) r.exponentials = Value::missing(part->absent, Unit::count, from);
    if (mufu && sms && clock)
        r.exponentials = Value::of(*mufu.number * *sms.number * *clock.number * 1000, Unit::count, from,
                                   n(*mufu.number) + " exponentials per clock and SM x " + n(*sms.number) +
                                       " SMs x " + n(*clock.number / 1e6) + assumed + ", per second");
    return r;
}

Prediction predict(const AttentionShape& s, Method method, const Roofs& roofs, Ground ground,
                   std::optional<Tile> tile, bool tf32_products) {
    const Provenance model{Source::model, ground};
    Prediction p;
    p.useful_flops = useful_flops(s, is_fused(method), ground);
    p.least_bytes = least_bytes(s, ground);
    const auto give_up = [&](const std::string& why) {
        for (Value* v : models::modelled_bytes(p)) *v = Value::missing(why, Unit::bytes, model);
        p.executed_flops = Value::missing(why, Unit::flop, model);
        p.intensity = p.ridge = Value::missing(why, Unit::none, model);
        p.roof = Value::missing(why, Unit::flop_per_second, model);
        for (Value* v : {&p.memory_time, &p.compute_time, &p.exponential_time, &p.bound})
            *v = Value::missing(why, Unit::nanoseconds, model);
    };
    const auto element = s.element_bytes();
    if (!element) {
        give_up(p.least_bytes.absent);
        return p;
    }
    p.kernels = models::kernels_of(s, method, *element);
    const double scores = models::scores(s), units = models::score_units(p.kernels);
    Sums sum;
    for (const ModelKernel& k : p.kernels) {
        sum.bytes += (k.score_read + k.score_write) * scores + k.read + k.write;
        sum.flops += k.flops;
    }
    if (!p.useful_flops || !p.least_bytes || !models::fits(sum.bytes) || !models::fits(sum.flops)) {
        give_up("the shape overflows 64 bits");
        return p;
    }
    p.score_bytes =
        is_fused(method)
            ? Value::of(0, Unit::bytes, model, "0: scores live in registers and shared memory, tile by tile")
            : Value::of(
                  scores * units, Unit::bytes, model,
                  n(scores) + " scores x " + n(units) + " bytes (" + models::score_steps(p.kernels) + ")");
    p.bytes = Value::of(sum.bytes, Unit::bytes, model,
                        n(scores * units) + " of scores + " + n(sum.bytes - scores * units) +
                            " of q, k, v, o and what else its kernels read and write");

    if (!is_fused(method)) {
        p.executed_flops =
            Value::of(sum.flops, Unit::flop, model,
                      "the whole square: 2 x " + n(scores) + " scores x " + n(s.head_dim) + " for each of " +
                          n(std::round(scores * s.head_dim > 0 ? sum.flops / (2 * scores * s.head_dim) : 0)) +
                          " products");
    } else if (!tile || !(tile->queries > 0) || !(tile->keys > 0)) {
        p.executed_flops = Value::missing("its tile is not known before the kernel is", Unit::flop, model);
    } else {
        const double visited = models::tiled_scores(s, *tile);
        const double width = tile->head_dim > 0 ? tile->head_dim : s.head_dim;
        const double products = s.pass == Pass::forward ? 4 : s.pass == Pass::backward ? 10 : 14;
        p.executed_flops = models::checked(products * visited * width, Unit::flop, model,
                                           n(products) + " x " + n(visited) + " scores in tiles of " +
                                               n(tile->queries) + " x " + n(tile->keys) + " x " + n(width));
    }

    set_on_chip(p, s, method, tile, *element);

    const double score = !p.kernels.empty() && method == Method::math ? 4 : *element;
    const double tensors = *element * 2 * (models::query_elements(s) + models::key_elements(s));
    p.least_memory = is_fused(method)
                         ? Value::of(tensors, Unit::bytes, model, n(tensors) + " of q, k, v, o; no scores")
                         : Value::of(tensors + 2 * score * scores, Unit::bytes, model,
                                     n(tensors) + " of q, k, v, o + 2 x " + n(score) + " x " + n(scores) +
                                         " scores: input and output of one step live at once");
    set_residence(p, s, roofs, *element, score, !is_fused(method));

    const RoofChoice roof = roof_of(s, method, roofs, tf32_products, model);
    p.roof = roof.peak;
    p.roof_name = roof.name;
    const bool memory_known = roofs.dram && roofs.l2;
    const bool closed = method == Method::cudnn;
    std::string steps;
    for (ModelKernel& k : p.kernels) {
        KernelTime t;
        if (memory_known) {
            const double dram = beyond(k.score_read * scores + k.read, *roofs.l2.number) +
                                beyond(k.score_write * scores + k.write, *roofs.l2.number);
            sum.dram += dram;
            t.memory = dram / *roofs.dram.number * 1e9;
        }
        if (p.roof) t.compute = k.flops / *p.roof.number * 1e9;
        if (roofs.exponentials && !closed) t.exponentials = k.exponentials / *roofs.exponentials.number * 1e9;
        sum.memory += t.memory;
        sum.compute += t.compute;
        sum.exponentials += t.exponentials;
        k.bound = t.longest();
        sum.longest += k.bound;
        const std::string binds = t.binds();
        sum.by[binds == "memory" ? 0 : binds == "compute" ? 1 : 2] += t.longest();
        if (t.longest() > 0)
            steps += (steps.empty() ? "" : " + ") + k.name + " " + words::milliseconds(t.longest()) + " (" +
                     binds + ")";
    }
    if (memory_known) {
        p.dram_bytes = Value::of(sum.dram, Unit::bytes, model,
                                 "of each kernel's reads, and of its writes, what is more than the L2's " +
                                     n(*roofs.l2.number) + " bytes");
        p.memory_time = nanoseconds(
            sum.dram, *roofs.dram.number, model,
            n(sum.dram) + " bytes that the L2 cannot keep / " + lower(*roofs.dram.number, "GB/s", 1e9));
    } else {
        const std::string why = roofs.dram ? roofs.l2.absent : roofs.dram.absent;
        p.dram_bytes = Value::missing(why, Unit::bytes, model);
        p.memory_time = Value::missing(why, Unit::nanoseconds, model);
    }
    p.compute_time = p.roof ? nanoseconds(sum.flops, *p.roof.number, model,
                                          n(sum.flops) + " FLOP / " + lower(*p.roof.number, "TFLOP/s", 1e12) +
                                              " (" + roof.name + ")")
                            : Value::missing(p.roof.absent, Unit::nanoseconds, model);
    if (closed)
        p.exponential_time =
            Value::missing("its kernels are closed: some exponentials may be computed without the MUFU",
                           Unit::nanoseconds, model);
    else if (!roofs.exponentials)
        p.exponential_time = Value::missing(roofs.exponentials.absent, Unit::nanoseconds, model);
    else
        p.exponential_time = Value::of(sum.exponentials, Unit::nanoseconds, model,
                                       "one exponential a score / (" + roofs.exponentials.formula + ")");
    if (sum.longest > 0 || (memory_known && p.roof)) {
        std::string unknown;
        if (!memory_known) unknown += "; memory is not in it: " + p.memory_time.absent;
        if (!p.roof) unknown += "; products are not in it: " + p.compute_time.absent;
        p.bound = Value::of(sum.longest, Unit::nanoseconds, model,
                            (steps.empty() ? "nothing to move and nothing to compute" : steps) + unknown);
        const char* names[] = {"memory", "compute", "exponentials"};
        if (sum.longest > 0) p.binds = names[std::max_element(sum.by, sum.by + 3) - sum.by];
    } else {
        p.bound = Value::missing(p.memory_time ? p.compute_time.absent : p.memory_time.absent,
                                 Unit::nanoseconds, model);
    }

    p.intensity = sum.bytes > 0 ? Value::of(*p.useful_flops.number / sum.bytes, Unit::none, model,
                                            n(*p.useful_flops.number) + " FLOP / " + n(sum.bytes) + " bytes")
                                : Value::missing("nothing is moved", Unit::none, model);
    if (p.roof && roofs.dram)
        p.ridge = Value::of(*p.roof.number / *roofs.dram.number, Unit::none, model,
                            lower(*p.roof.number, "TFLOP/s", 1e12) + " / " +
                                lower(*roofs.dram.number, "GB/s", 1e9) +
                                ": below it DRAM is the lower roof, above it the products");
    else
        p.ridge = Value::missing(p.roof ? roofs.dram.absent : p.roof.absent, Unit::none, model);
    return p;
}

}  // namespace attnscope
