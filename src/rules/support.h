#pragma once
// What rules share: evidence from Values, commands that run, the steps of a kind.
#include <string>
#include <string_view>
#include <vector>

#include "analysis/words.h"
#include "attnscope/rules.h"

namespace attnscope::rule {

Evidence evidence(std::string label, const Value& value, std::string compared_with = {});

/// `attnscope attention --only A,B ...` with the run's own shape; `extra` comes last.
std::string attention_command(const Analysis& analysis, const std::string& only,
                              const std::string& extra = {});

/// The same on a real GPU.
std::string real_attention_command(const Analysis& analysis, const std::string& only);
/// `attnscope collect ... -o OUTPUT -- the run's own command`; `device` may be empty: the run's own.
std::string collect_command(const Analysis& analysis, const std::string& device, const std::string& output,
                            const std::string& extra = {});
/// "it was not counted: ..." for a role that would settle something; empty where the value is there.
std::string not_counted(const Implementation& implementation, const char* role, const std::string& what);

/// Steps of one role; launches, not rows.
double count(const Implementation& implementation, Role role);
/// The implementations that ran, in order.
std::vector<const Implementation*> ran(const Analysis& analysis);
/// Of these, LibTorch's own choice (sdpa_auto) only where it is not another one's twin.
std::vector<const Implementation*> distinct(const Analysis& analysis);
/// The first that ran LibTorch's math backend, by name or by LibTorch's choice; nullptr: none.
const Implementation* math_backend(const Analysis& analysis);

/// "exact, computed from the virtual GPU's ..." is not said here: the ground is in each Value.
Value exact(double number, Unit unit, const Analysis& analysis, std::string formula = {});

/// What a virtual run cannot know, for counter-evidence; empty on any other ground.
std::string not_measured(const Analysis& analysis, const std::string& what);

bool fp32(const std::string& type);

/// Largest absolute difference between two implementations' results that rounding explains.
double rounding_limit(const std::string& dtype);
/// The implementation whose result has the fewest elements that are NaN or infinite, where this one's has
/// more; else nullptr.
const Implementation* more_finite(const Analysis& analysis, const Implementation& implementation);
/// Its results differ by more than that, or have NaN or infinities that another's have not: its speed is not
/// comparable.
bool differs(const Analysis& analysis, const Implementation& implementation);

/// A role's value among these; absent, with a reason, also where it was not asked for.
const Value& counted(const std::vector<Measured>& counters, std::string_view role);
/// Share of the DRAM bandwidth that a counted kernel reached, percent: the counter of that name where it was
/// collected, else DRAM bytes / (the kernel's time under counters x the GPU's bandwidth).
Value dram_use(const Analysis& analysis, const Step& step);
/// What a counted kernel kept busy: the tensor pipe, DRAM, and whatever else was collected; percent of each
/// one's peak.
struct Use {
    std::string name;  ///< "tensor pipe"
    Value value;
};
std::vector<Use> uses(const Analysis& analysis, const Step& step);
/// "tensor pipe 4%, DRAM 20.6%"
std::string in_words(const std::vector<Use>& uses);

/// Kernels of at least a tenth of their implementation's kernel time, measured or else under counters; all
/// where neither is known. A rule that speaks of single kernels speaks of these.
std::vector<const Step*> weighty_kernels(const Implementation& implementation);
/// "elementwise mul": a colon would end the claim that a heading is made of.
std::string in_a_sentence(std::string name);
/// "flash_fwd hd64 128x128 of sdpa_flash"; the implementation's title alone where it is the only kernel.
std::string kernel_words(const Implementation& implementation, const Step& step);

}  // namespace attnscope::rule
