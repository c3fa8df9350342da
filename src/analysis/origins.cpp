#include "origins.h"

#include <set>

#include "words.h"

namespace attnscope {
namespace {

constexpr size_t kDeepest = 64;
/// With more names than this a range's name changes each time ("step 17"), and tells no group.
constexpr size_t kMostRangeNames = 40;

/// "aten::mm" -> "mm": everything of LibTorch's own is aten's.
std::string short_name(const std::string& operation) {
    return operation.rfind("aten::", 0) == 0 ? operation.substr(6) : operation;
}

bool is_own(const Range& range) {
    return range.name.rfind("attnscope.", 0) == 0;
}

}  // namespace

Origins::Origins(const Process& process)
    : process_(process), chain_(process.operations.size(), kNone), group_(process.operations.size(), kNone) {
    std::set<std::string_view> names;
    for (const Range& range : process.ranges)
        if (!is_own(range) && names.size() <= kMostRangeNames) names.insert(range.name);
    ranges_count_ = names.size() <= kMostRangeNames;
    program_range_.resize(process.ranges.size(), kNone);
    std::vector<bool> known(process.ranges.size());
    std::vector<uint32_t> walk;
    for (uint32_t i = 0; i < known.size(); ++i) {
        // Parents may come after their children, and chains may be long: no recursion.
        for (uint32_t at = i; at != kNone && !known[at]; at = process.ranges[at].parent) walk.push_back(at);
        for (; !walk.empty(); walk.pop_back()) {
            const uint32_t at = walk.back(), parent = process.ranges[at].parent;
            program_range_[at] = !is_own(process.ranges[at]) ? at
                                 : parent == kNone           ? kNone
                                                             : program_range_[parent];
            known[at] = true;
        }
    }
}

StepOrigin Origins::of(const Launch& launch) const {
    StepOrigin origin;
    for (uint32_t at = launch.operation; at != kNone && origin.operations.size() < kDeepest;
         at = process_.operations[at].parent) {
        const Operation& operation = process_.operations[at];
        if (origin.operations.empty()) origin.inputs = operation.inputs;
        origin.operations.push_back(operation.name);
        origin.backward = origin.backward || operation.backward;
        if (operation.backward && operation.forward != kNone && origin.forward.empty())
            origin.forward = process_.operations[operation.forward].name;
    }
    if (const uint32_t range = range_of(launch); range != kNone) origin.range = process_.ranges[range].name;
    return origin;
}

uint32_t Origins::group(const Launch& launch) {
    if (launch.operation != kNone) return group_of_operation(launch.operation);
    if (!ranges_count_) return 0;
    const uint32_t range = range_of(launch);
    if (range == kNone) return 0;
    const auto [it, fresh] = range_group_.try_emplace(range, 0);
    if (fresh)
        it->second = classes_
                         .try_emplace("range\n" + process_.ranges[range].name,
                                      static_cast<uint32_t>(classes_.size() + 1))
                         .first->second;
    return it->second;
}

uint32_t Origins::chain_of_operation(uint32_t operation) {
    std::vector<uint32_t> walk;
    for (uint32_t at = operation; at != kNone && chain_[at] == kNone; at = process_.operations[at].parent)
        walk.push_back(at);
    for (; !walk.empty(); walk.pop_back()) {
        const Operation& o = process_.operations[walk.back()];
        const std::string above = o.parent == kNone ? std::string() : std::to_string(chain_[o.parent]);
        chain_[walk.back()] =
            classes_
                .try_emplace("chain\n" + above + (o.backward ? "\nbackward\n" : "\n") + o.name,
                             static_cast<uint32_t>(classes_.size() + 1))
                .first->second;
    }
    return chain_[operation];
}

uint32_t Origins::group_of_operation(uint32_t operation) {
    if (group_[operation] != kNone) return group_[operation];
    std::string key = "group\n" + std::to_string(chain_of_operation(operation));
    for (const std::string& input : process_.operations[operation].inputs)
        if (input.find('[') != std::string::npos) key += '\n' + input;
    return group_[operation] =
               classes_.try_emplace(std::move(key), static_cast<uint32_t>(classes_.size() + 1)).first->second;
}

uint32_t Origins::range_of(const Launch& launch) const {
    for (const uint32_t range : {launch.range, launch.process_range})
        if (range != kNone && program_range_[range] != kNone) return program_range_[range];
    return kNone;
}

std::string origin_words(const StepOrigin& origin) {
    if (origin.operations.empty()) return origin.range.empty() ? std::string() : "range " + origin.range;
    if (!origin.forward.empty()) return "backward of " + short_name(origin.forward);
    const std::string innermost = short_name(origin.operations.front()),
                      outermost = short_name(origin.operations.back());
    return innermost == outermost ? innermost : innermost + " in " + outermost;
}

std::string origin_chain(const StepOrigin& origin) {
    std::string text = words::join(origin.operations, " < ", " < ");
    if (!origin.inputs.empty()) text += " (inputs: " + words::join(origin.inputs, ", ") + ")";
    if (!origin.forward.empty()) text += "; the derivative of " + origin.forward;
    if (!origin.range.empty()) text += (text.empty() ? "range " : "; in range ") + origin.range;
    return text;
}

}  // namespace attnscope
