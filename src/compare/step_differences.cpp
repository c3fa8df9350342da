#include "step_differences.h"

#include "analysis/words.h"

namespace attnscope::comparing {
namespace {

std::string text(const Dim3& d) {
    return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

}  // namespace

std::vector<Difference> step_differences(const Step& a, const Step& b) {
    std::vector<Difference> out;
    const auto dim = [&](const char* what, const std::optional<Dim3>& x, const std::optional<Dim3>& y) {
        if (x && y && *x != *y) out.push_back({what, text(*x), text(*y)});
    };
    const auto value = [&](const char* what, const Value& x, const Value& y) {
        if (x && y && *x.number != *y.number)
            out.push_back({what, words::number(*x.number), words::number(*y.number)});
    };
    if (a.times != b.times) out.push_back({"launches", std::to_string(a.times), std::to_string(b.times)});
    dim("grid", a.grid, b.grid);
    dim("block", a.block, b.block);
    dim("cluster", a.cluster, b.cluster);
    value("registers", a.registers, b.registers);
    value("static shared memory", a.static_shared, b.static_shared);
    value("dynamic shared memory", a.dynamic_shared, b.dynamic_shared);
    value("local memory", a.local, b.local);
    value("bytes", a.bytes, b.bytes);
    if (!a.call || !b.call) return out;
    for (const auto& [key, x] : a.call->attributes)
        if (const std::string* y = b.call->attribute(key); y && *y != x) out.push_back({key, x, *y});
    return out;
}

}  // namespace attnscope::comparing
