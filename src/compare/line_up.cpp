// Launches of two runs, lined up.
#include <map>

#include "align.h"
#include "analysis/words.h"
#include "attnscope/compare.h"
#include "step_differences.h"

namespace attnscope {
namespace {

using comparing::longest_common;

/// Equal texts have equal numbers.
class Numbers {
  public:
    uint32_t of(const std::string& text) {
        return numbers_.try_emplace(text, static_cast<uint32_t>(numbers_.size())).first->second;
    }

  private:
    std::map<std::string, uint32_t> numbers_;
};

std::string what_it_is(const Step& s) {
    switch (s.kind) {
        case LaunchKind::kernel:
            return "kernel\n" + s.full_name;
        case LaunchKind::library_call:
            return s.call ? "call\n" + s.call->library + "\n" + s.call->function + "\n" + s.call->operation
                          : "call";
        case LaunchKind::memcpy:
            return "copy\n" + s.copy_kind;
        case LaunchKind::memset:
            return "memset";
    }
    return {};
}

/// Empty: nothing is known of what it is for.
std::string what_it_is_for(const Step& s) {
    if (!s.is_kernel() && s.kind != LaunchKind::library_call) return {};
    if (s.role != Role::other) return std::string("role\n") + to_string(s.role);
    if (!s.origin.operations.empty()) return "operation\n" + s.origin.operations.front();
    return {};
}

StepPair pair_of(const std::vector<Step>& a, int i, const std::vector<Step>& b, int k, bool alike) {
    StepPair out{StepChange::same, i, k, {}};
    const Step &x = a[static_cast<size_t>(i)], &y = b[static_cast<size_t>(k)];
    if (x.kind != y.kind) {
        out.change = StepChange::resolved;
        return out;
    }
    out.differences = comparing::step_differences(x, y);
    if (!alike)
        out.change = StepChange::replaced;
    else if (!out.differences.empty())
        out.change = StepChange::changed;
    return out;
}

/// Launches between two matches. Where a call of one run is a kernel of the other, the kernels that follow it
/// for the same work are of the same call.
class Gap {
  public:
    Gap(const std::vector<Step>& a, const std::vector<Step>& b, std::vector<StepPair>& out)
        : a_(a), b_(b), out_(out) {}

    void fill(int a_from, int a_to, int b_from, int b_to) {
        Numbers numbers;
        const auto keys = [&](const std::vector<Step>& steps, int from, int to, const char* nobody) {
            std::vector<uint32_t> out;
            for (int i = from; i < to; ++i) {
                const std::string use = what_it_is_for(steps[static_cast<size_t>(i)]);
                out.push_back(numbers.of(use.empty() ? nobody + std::to_string(i) : use));
            }
            return out;
        };
        const auto pairs = longest_common(keys(a_, a_from, a_to, "a"), keys(b_, b_from, b_to, "b"));
        call_.clear();
        int a = a_from, b = b_from;
        for (const auto& [i, k] : pairs) {
            const int to_a = a_from + static_cast<int>(i), to_b = b_from + static_cast<int>(k);
            alone(a, to_a, b, to_b);
            out_.push_back(pair_of(a_, to_a, b_, to_b, false));
            call_ = out_.back().change == StepChange::resolved ? what_it_is_for(a_[static_cast<size_t>(to_a)])
                                                               : std::string();
            a = to_a + 1;
            b = to_b + 1;
        }
        alone(a, a_to, b, b_to);
    }

  private:
    void alone(int a_from, int a_to, int b_from, int b_to) {
        for (int i = a_from; i < a_to; ++i)
            out_.push_back({of_call(a_[static_cast<size_t>(i)], StepChange::gone), i, -1, {}});
        for (int k = b_from; k < b_to; ++k)
            out_.push_back({of_call(b_[static_cast<size_t>(k)], StepChange::added), -1, k, {}});
    }
    StepChange of_call(const Step& step, StepChange otherwise) {
        if (!call_.empty() && step.is_kernel() && what_it_is_for(step) == call_) return StepChange::resolved;
        call_.clear();
        return otherwise;
    }

    const std::vector<Step>&a_, &b_;
    std::vector<StepPair>& out_;
    std::string call_;  ///< what the library call before is for
};

}  // namespace

const char* to_string(StepChange change) {
    static constexpr const char* names[] = {"same", "changed", "replaced", "resolved", "added", "gone"};
    return names[static_cast<size_t>(change)];
}

std::vector<StepPair> line_up(const std::vector<Step>& a, const std::vector<Step>& b) {
    Numbers numbers;
    std::vector<uint32_t> x, y;
    for (const Step& s : a) x.push_back(numbers.of(what_it_is(s)));
    for (const Step& s : b) y.push_back(numbers.of(what_it_is(s)));
    std::vector<StepPair> out;
    Gap gap(a, b, out);
    int i = 0, k = 0;
    for (const auto& [to_i, to_k] : longest_common(x, y)) {
        gap.fill(i, static_cast<int>(to_i), k, static_cast<int>(to_k));
        out.push_back(pair_of(a, static_cast<int>(to_i), b, static_cast<int>(to_k), true));
        i = static_cast<int>(to_i) + 1;
        k = static_cast<int>(to_k) + 1;
    }
    gap.fill(i, static_cast<int>(a.size()), k, static_cast<int>(b.size()));
    return out;
}

}  // namespace attnscope
