#include "code.h"

namespace attnscope {

StepCode::StepCode(const Process& process) : process_(process) {
    for (const NamedCode& code : process.code)
        code_.emplace(std::tuple(code.name, code.major, code.minor), &code);
}

void StepCode::fill(Step& step, const Launch& launch) {
    if (launch.name == kNone) {
        step.mix_absent = "the record has no name";
        return;
    }
    const auto [name, fresh] = names_.try_emplace(launch.name);
    if (fresh) name->second = attention_kernel_name(step.full_name);
    step.decoded = name->second;
    if (process_.code.empty()) {
        step.mix_absent = process_.code_absent;
        return;
    }
    const Device* device = process_.device(launch.device);
    if (!device || !device->major || !device->minor) {
        step.mix_absent = "which code the device runs is not known: its compute capability is not in the run";
        return;
    }
    const auto found = code_.find({launch.name, *device->major, *device->minor});
    if (found == code_.end())
        step.mix_absent = "the run holds no code of it";
    else if (found->second->mix)
        step.mix = found->second->mix;
    else
        step.mix_absent = found->second->absent;
}

}  // namespace attnscope
