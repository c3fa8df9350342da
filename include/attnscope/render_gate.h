#pragma once
// A gate's result as bytes, for each place where people look. Renderers format, compute nothing and never
// fail; names from programs are escaped for the format that they stand in.
#include <cstddef>
#include <string>

#include "attnscope/gate.h"
#include "attnscope/render.h"

namespace attnscope {

/// For a terminal: the verdict, what fails and why, the next command. `details`: also what holds.
std::string render_gate_text(const gate::GateResult& result, TextOptions options = {});

/// Markdown for a pull request or a step summary, no longer than `budget` bytes (512 at least): what is left
/// out is counted. Its first line is a tag by which a poster finds the comment again: `<!-- attnscope:id=ID
/// -->`. Two lines more when all is well.
std::string render_gate_markdown(const gate::GateResult& result, const std::string& id,
                                 size_t budget = kCommentBudget);

/// GitHub's workflow commands, at most 10 of a kind (GitHub shows no more): on the line that a launch's range
/// names
/// ("model.py:57"), else on the policy's line.
std::string render_gate_annotations(const gate::GateResult& result);

/// JUnit XML, valid by the schema in pytest's source distribution: a failure is of type "worse" or "cannot
/// judge", ambiguous is a skip.
std::string render_gate_junit(const gate::GateResult& result);

/// SARIF 2.1.0 (OASIS): failures are errors, what cannot be judged a warning, improvements notes. Located at
/// the policy's line, else at the baseline; fingerprints are the same from run to run.
std::string render_gate_sarif(const gate::GateResult& result);

/// A sentence of the gate's that may hold a program's names, as one line that is safe to print.
std::string render_line(const std::string& sentence);

/// schema/verdict.schema.json
std::string render_gate_json(const gate::GateResult& result);

}  // namespace attnscope
