#pragma once
// A number never travels without its unit and its origin (DESIGN.md, laws 1 and 2).
#include <optional>
#include <string>
#include <utility>

namespace attnscope {

/// How a number came to be.
enum class Source {
    counter,   ///< a hardware counter, read through CUPTI
    trace,     ///< a CUPTI activity record or callback
    binary,    ///< read from the cubin
    computed,  ///< exact arithmetic on other values
    model,     ///< an estimate or a bound, with its formula
    reported,  ///< said by LibTorch, its allocator, NVML
};

/// On what ground. Ordered: the weaker one (the greater) wins when values are combined.
enum class Ground { real, imported, fixture, virtual_gpu };

struct Provenance {
    Source source = Source::computed;
    Ground ground = Ground::real;
};

/// Combining keeps `source` and takes the weaker ground.
inline Ground weaker(Ground a, Ground b) {
    return a < b ? b : a;
}

enum class Unit {
    none,
    count,
    bytes,
    percent,
    nanoseconds,
    registers,
    threads,
    ctas,
    warps,
    bytes_per_second,
    flop,
    flop_per_second
};

/// A number, or absent with a reason: missing is not zero.
struct Value {
    std::optional<double> number;
    std::string absent;  ///< why there is none; empty when there is a number
    Unit unit = Unit::none;
    Provenance provenance;
    std::string formula;  ///< the formula evaluated, with its values; empty for plain readings

    static Value of(double number, Unit unit, Provenance provenance, std::string formula = {}) {
        return {number, {}, unit, provenance, std::move(formula)};
    }
    static Value missing(std::string reason, Unit unit = Unit::none, Provenance provenance = {}) {
        return {std::nullopt, std::move(reason), unit, provenance, {}};
    }
    explicit operator bool() const { return number.has_value(); }
};

const char* to_string(Source source);  ///< "counter", "trace", ...
const char* to_string(Ground ground);  ///< "real", "imported", "fixture", "virtual"
const char* to_string(Unit unit);      ///< "bytes", "%", "ns", ...

}  // namespace attnscope
