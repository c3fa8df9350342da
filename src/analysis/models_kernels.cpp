// The kernels of each method, one by one, as LibTorch 2.11 launches them (their order and number are those of
// the same library on a virtual GPU); bytes are the reads and writes that their operation needs.
#include <algorithm>
#include <cmath>

#include "models_parts.h"

namespace attnscope::models {
namespace {

struct Maker {
    const AttentionShape& s;
    double e;  ///< bytes of an element of q, k, v, o
    double c;  ///< bytes of a score
    bool cuda_cores;
    std::vector<ModelKernel> out;

    double q() const { return query_elements(s); }
    double k() const { return key_elements(s); }

    void scores_only(const char* name, double read, double write) { out.push_back({name, read, write}); }
    void around(const char* name, double read, double write) { out.push_back({name, 0, 0, read, write}); }
    /// One product with the scores on one side: the whole square, also when causal.
    void product(const char* name, double read, double write, double other_read, double other_write) {
        ModelKernel kernel{name, read, write, other_read, other_write};
        kernel.flops = 2 * scores(s) * s.head_dim;
        kernel.cuda_cores = cuda_cores;
        out.push_back(kernel);
    }
    void softmax() {
        ModelKernel kernel{"softmax", c, c};
        kernel.exponentials = scores(s);
        out.push_back(kernel);
    }
    void softmax_backward() {
        scores_only("gradient x softmax", 2 * c, c);
        scores_only("softmax backward", 2 * c, c);
    }
};

void unfused(Maker& m) {
    if (m.s.pass != Pass::backward) {
        m.product("product", 0, m.c, m.e * (m.q() + m.k()), 0);
        m.softmax();
        m.product("product", m.c, 0, m.e * m.k(), m.e * m.q());
    }
    if (m.s.pass == Pass::forward) return;
    m.product("product for dV", m.c, 0, m.e * m.q(), m.e * m.k());
    m.product("product for dP", 0, m.c, m.e * (m.q() + m.k()), 0);
    m.scores_only("softmax backward", 2 * m.c, m.c);
    m.product("product for dQ", m.c, 0, m.e * m.k(), m.e * m.q());
    m.product("product for dK", m.c, 0, m.e * m.q(), m.e * m.k());
}

void naive(Maker& m, bool in_place) {
    const double c = m.c, e = m.e;
    const bool fill = m.s.causal || m.s.masked_fill;
    if (m.s.pass != Pass::backward) {
        m.product("product", 0, c, e * (m.q() + m.k()), 0);
        m.scores_only("scale", c, c);
        if (fill && !in_place) m.scores_only("copy", c, c);
        if (m.s.masked()) m.scores_only("mask", c, c);
        m.softmax();
        m.product("product", c, 0, e * m.k(), e * m.q());
    }
    if (m.s.pass == Pass::forward) return;
    m.product("product for dV", c, 0, e * m.q(), e * m.k());
    m.product("product for dP", 0, c, e * (m.q() + m.k()), 0);
    m.softmax_backward();
    if (fill) {  // the derivative of masked_fill is out of place, whatever the forward did
        m.scores_only("copy", c, c);
        m.scores_only("mask", c, c);
    }
    m.scores_only("scale", c, c);
    m.product("product for dQ", c, 0, e * m.k(), e * m.q());
    m.product("product for dK", c, 0, e * m.q(), e * m.k());
}

void math(Maker& m) {
    const double c = m.c, e = m.e, q = m.q(), k = m.k();
    const bool upcast = c != e;
    if (m.s.pass != Pass::backward) {
        if (upcast) m.around("cast q, k, v", e * (q + 2 * k), c * (q + 2 * k));
        m.around("scale q, k", c * (q + k), c * (q + k));
        m.product("product", 0, c, c * (q + k), 0);
        if (m.s.masked()) m.scores_only("mask", c, c);
        m.softmax();
        m.scores_only("NaN guard", c, 1);
        m.scores_only("NaN guard", 1, 0);
        m.scores_only("NaN guard", c, c);
        m.product("product", c, 0, c * k, c * q);
        if (upcast) {
            m.around("cast o", c * q, e * q);
            m.scores_only("cast back", c, e);
        }
    }
    if (m.s.pass == Pass::forward) return;
    if (upcast) m.around("cast o's gradient", e * q, c * q);
    m.product("product for dV", c, 0, c * q, c * k);
    m.product("product for dP", 0, c, c * (q + k), 0);
    m.softmax_backward();
    m.product("product for dQ", c, 0, c * k, c * q);
    m.product("product for dK", c, 0, c * q, c * k);
    m.around("scale dQ, dK", c * (q + k), c * (q + k));
    if (upcast) m.around("cast the gradients", c * (q + 2 * k), e * (q + 2 * k));
}

void fused(Maker& m, Method method) {
    const double e = m.e, q = m.q(), k = m.k();
    // The convention's half of the square is a little less than what is visible: the bound keeps to it.
    const double share = m.s.causal ? std::min(0.5, visible_share(m.s)) : 1;
    // Row statistics (log-sum-exp), fp32: always kept for a backward pass, and then alone counted.
    const double rows = 4 * m.s.batch * m.s.heads * m.s.query_length;
    if (m.s.pass != Pass::backward) {
        ModelKernel kernel{"attention", 0, 0, e * (q + 2 * k), e * q};
        if (m.s.pass == Pass::both) kernel.write += rows;
        kernel.flops = 4 * scores(m.s) * m.s.head_dim * share;
        kernel.exponentials = scores(m.s) * share;
        m.out.push_back(kernel);
    }
    if (m.s.pass == Pass::forward) return;
    ModelKernel kernel{"attention backward", 0, 0, e * (3 * q + 2 * k) + rows, e * (q + 2 * k)};
    kernel.flops = 10 * scores(m.s) * m.s.head_dim * share;
    kernel.exponentials = scores(m.s) * share;
    if (method == Method::flash) {  // FlashAttention 2 sums dQ in fp32 in memory, then converts it
        kernel.write += 4 * q;
        kernel.read += 4 * q;
    }
    m.out.push_back(kernel);
}

}  // namespace

double tiled_scores(const AttentionShape& s, const Tile& tile) {
    const double rows = std::ceil(s.query_length / tile.queries);
    const double columns = std::ceil(s.key_length / tile.keys);
    double tiles = rows * columns;
    // A sum in closed form is not worth it; longer sequences than this are near the half anyway.
    if (s.causal && rows <= 1 << 20) {
        tiles = 0;
        for (double row = 1; row <= rows; ++row)
            tiles += std::min(columns, std::ceil(std::min(row * tile.queries, s.key_length) / tile.keys));
    } else if (s.causal) {
        tiles /= 2;
    }
    return s.batch * s.heads * tiles * tile.queries * tile.keys;
}

double tile_elements(const AttentionShape& s, Method method, const Tile& tile) {
    const double tiles = tiled_scores(s, tile) / (tile.queries * tile.keys);
    const double q_loads =
        method == Method::efficient ? tiles : s.batch * s.heads * std::ceil(s.query_length / tile.queries);
    return (q_loads * tile.queries + tiles * 2 * tile.keys) * s.head_dim;
}

std::vector<ModelKernel> kernels_of(const AttentionShape& s, Method method, double element) {
    const bool upcast = method == Method::math && element < 4;
    Maker m{s, element, upcast ? 4 : element, upcast || element == 4, {}};
    switch (method) {
        case Method::unfused:
            unfused(m);
            break;
        case Method::naive:
        case Method::naive_inplace:
            naive(m, method == Method::naive_inplace);
            break;
        case Method::math:
        case Method::math_reduced:
            math(m);
            break;
        case Method::flash:
        case Method::efficient:
        case Method::cudnn:
            m.cuda_cores = false;
            fused(m, method);
            break;
    }
    return std::move(m.out);
}

std::string score_steps(const std::vector<ModelKernel>& kernels) {
    std::string out, last;
    for (const ModelKernel& k : kernels) {
        if (k.score_read + k.score_write == 0) continue;
        if (k.name != last) out += (out.empty() ? "" : ", ") + k.name;
        last = k.name;
        if (k.score_read > 0) out += " r" + n(k.score_read);
        if (k.score_write > 0) out += " w" + n(k.score_write);
    }
    return out;
}

double score_units(const std::vector<ModelKernel>& kernels) {
    double units = 0;
    for (const ModelKernel& k : kernels) units += k.score_read + k.score_write;
    return units;
}

}  // namespace attnscope::models
