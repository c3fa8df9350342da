#pragma once
// Which limits of a policy speak about a value, and whether each of them spoke about any.
#include <vector>

#include "attnscope/policy.h"

namespace attnscope::gate {

/// A value's address.
struct Where {
    const Subject* subject = nullptr;
    const Part* part = nullptr;  ///< nullptr: of the whole implementation
    const GateMetric* metric = nullptr;
};

/// Of the policy, each nullptr where the built-in value counts.
struct Tolerance {
    const Limit* relative = nullptr;  ///< says how far it may worsen
    const Limit* noise = nullptr;     ///< says what is noise
};

class Limits {
  public:
    explicit Limits(const Policy& policy) : policy_(policy), used_(policy.limits.size()) {}

    /// The last that says how far the value may move, or that it is not judged; nullptr: the built-in bound.
    const Limit* relative(const Where& where) const;
    /// What a number is judged by beside its baseline; what it holds counts as used.
    Tolerance tolerance(const Where& where);
    bool ignored(const Where& where);
    /// All that hold without a baseline. Each counts as used.
    std::vector<const Limit*> absolute(const Where& where);
    void use(const Limit* limit);
    std::vector<const Limit*> unused() const;

  private:
    const Policy& policy_;
    std::vector<bool> used_;
};

}  // namespace attnscope::gate
