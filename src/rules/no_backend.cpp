#include "all.h"
#include "asked.h"
#include "refusals.h"
#include "support.h"

namespace attnscope::rule {
namespace {

bool says_none(const std::string& reason) {
    return reason.find("No available kernel") != std::string::npos ||
           reason.find("No viable backend") != std::string::npos;
}

Finding finding(const Analysis& a, const std::string& subject, const std::vector<std::string>& refused,
                const std::string& reason) {
    const double n = double(refused.size());
    Finding f;
    f.subject = subject;
    f.severity = Severity::problem;
    f.claim = "No backend is left for " + subject + " on " + a.device_name + ": " + words::number(n) +
              " are refused or switched off. " + words::join(refused, "; ", "; ") + "." +
              (reason.empty() ? "" : " LibTorch: \"" + reason + "\"");
    f.evidence = {evidence("backends that are refused or switched off",
                           Value::of(n, Unit::count, {Source::reported, a.ground}),
                           "fewer than those allowed")};
    if (a.device && a.device->major && a.device->minor)
        f.evidence.push_back(evidence(
            "compute capability",
            Value::of(*a.device->major + *a.device->minor / 10.0, Unit::none, {Source::reported, a.ground})));
    f.counter_evidence = {
        "math takes every shape and type: with it in the list the call runs, slowly. Where it "
        "was left out on purpose, failing is what was asked for."};
    f.next_step = a.has_convention ? attention_command(a, "sdpa_auto", "--why")
                                   : collect_command(a, a.predicted() ? "" : "real", "with-math");
    return f;
}

}  // namespace

std::vector<Finding> no_backend(const Analysis& a) {
    std::vector<Finding> out;
    for (const AttentionCall& call : a.calls) {
        if (call.choice.chosen != "none") continue;
        const auto refused = refusals(call.choice);
        if (refused.empty()) continue;
        out.push_back(
            finding(a, call.implementation.empty() ? "scaled_dot_product_attention" : call.implementation,
                    refused, {}));
    }
    if (!out.empty()) return out;
    for (const Implementation& i : a.implementations)
        if (i.status == ImplementationStatus::failed && says_none(i.reason))
            if (const auto refused = refusals(a.choice); !refused.empty())
                out.push_back(finding(a, i.title, refused, i.reason));
    return out;
}

}  // namespace attnscope::rule
