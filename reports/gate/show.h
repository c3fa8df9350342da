#pragma once
// What the gate's renderers share.
#include <optional>
#include <string>
#include <utility>

#include "attnscope/gate.h"
#include "text/writer.h"

namespace attnscope::reports {

/// "268.4 MB", "flash", "—" for what is not there.
std::string shown(const gate::Measurement& m);
/// A number that no hardware gave is told apart: "(predicted)".
std::string ground_note(const gate::GateResult& result);
/// "FAILED", "CANNOT JUDGE", "PASSED", by what was found, whatever the policy makes of it.
const char* verdict_word(const gate::GateResult& result);
const char* symbol(gate::Outcome outcome);  ///< a sign that needs no colour
Style style_of(gate::Outcome outcome);
/// "sdpa_flash", "sdpa_math: softmax_warp_forward", "naive: DtoD copy"; "the run"
std::string where_words(const gate::Verdict& v);
/// The metric as a policy names it; else what it is about: "kernel".
std::string metric_words(const gate::Verdict& v);
/// File and line, where the launch's range, its place or the implementation names one ("model.py:57").
std::optional<std::pair<std::string, int>> source_line(const gate::Verdict& v);

}  // namespace attnscope::reports
