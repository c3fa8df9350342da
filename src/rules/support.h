#pragma once
// What rules share: evidence from Values, commands that run, the steps of a kind.
#include <string>
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

/// "exact, computed from the virtual GPU's ..." is not said here: the ground is in each Value.
Value exact(double number, Unit unit, const Analysis& analysis, std::string formula = {});

/// What a virtual run cannot know, for counter-evidence; empty on any other ground.
std::string not_measured(const Analysis& analysis, const std::string& what);

bool fp32(const std::string& type);

}  // namespace attnscope::rule
