#pragma once
// What the gate's renderers share.
#include <optional>
#include <string>
#include <utility>

#include "attnscope/gate.h"

namespace attnscope::reports {

/// "268.4 MB", "flash", "—" for what is not there.
std::string shown(const gate::Measurement& m);
/// A number that no hardware gave is told apart: "(predicted)".
std::string ground_note(const gate::GateResult& result);
/// "FAILED", "CANNOT JUDGE", "PASSED", by what was found, whatever the policy makes of it.
const char* verdict_word(const gate::GateResult& result);
const char* symbol(gate::Outcome outcome);  ///< a sign that needs no colour
/// "sdpa_flash", "kernel `softmax` in sdpa_math"; "the run"
std::string subject_words(const gate::Verdict& v);
/// "model.py:57" -> file and line; nullopt: the place names none.
std::optional<std::pair<std::string, int>> source_line(const std::string& place);

}  // namespace attnscope::reports
