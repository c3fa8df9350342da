// Operations of LibTorch and its choices.
#include <charconv>

#include "file_reader.h"

namespace attnscope::run_reader {
namespace {

/// "pad-head-dim 12582912"
std::optional<AttentionChoice::HiddenWork> hidden_work(const std::string& text) {
    const size_t space = text.rfind(' ');
    if (space == std::string::npos) return std::nullopt;
    AttentionChoice::HiddenWork work{text.substr(0, space), 0};
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + space + 1, end, work.bytes);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return work;
}

}  // namespace

void FileReader::take_operation(Record& r) {
    const auto id = r.u64("id");
    const auto name = r.text("name");
    if (!id || !name) return incomplete_.add(line_, "operation");
    if (!operation_index_.emplace(*id, static_cast<uint32_t>(out_.operations.size())).second)
        return duplicate_.add(line_, "operation " + std::to_string(*id));
    Operation operation;
    operation.id = *id;
    operation.name = *name;
    operation.inputs = r.texts("inputs");
    operation.backward = r.text("scope") == "backward";
    out_.operations.push_back(std::move(operation));
    operation_parent_.push_back(r.u64("parent"));
    operation_forward_.push_back(r.u64("forward"));
}

void FileReader::take_choice(Record& r) {
    const auto operation = r.u64("op");
    const auto chosen = r.text("chosen");
    if (!operation || !chosen) return incomplete_.add(line_, "attention_choice");
    AttentionChoice choice;
    choice.chosen = *chosen;
    choice.order = r.texts("order");
    for (const char* name : {"flash", "efficient", "cudnn", "math"}) {
        const std::string suffix = std::string("_") + name;
        if (!r.has("refused" + suffix)) continue;
        AttentionChoice::Backend backend;
        backend.name = name;
        backend.refused = r.texts("refused" + suffix);
        backend.removed = r.texts("removed" + suffix);
        for (const std::string& text : r.texts("hidden" + suffix)) {
            if (auto work = hidden_work(text))
                backend.hidden.push_back(std::move(*work));
            else
                incomplete_.add(line_, "hidden" + suffix);
        }
        choice.backends.push_back(std::move(backend));
    }
    out_.choices.push_back(std::move(choice));
    choice_operation_.push_back(operation);
}

/// A parent that comes later can only be damage: without it a walk to the top always ends.
void FileReader::resolve_operations() {
    for (uint32_t i = 0; i < out_.operations.size(); ++i) {
        Operation& operation = out_.operations[i];
        operation.parent = look_up(operation_index_, operation_parent_[i], "operation");
        operation.forward = look_up(operation_index_, operation_forward_[i], "operation");
        if (operation.parent == kNone || operation.parent < i) continue;
        duplicate_.add(line_, "operation " + std::to_string(operation.id) + " before its parent");
        operation.parent = kNone;
    }
    for (size_t i = 0; i < out_.choices.size(); ++i)
        out_.choices[i].operation = look_up(operation_index_, choice_operation_[i], "operation");
}

}  // namespace attnscope::run_reader
