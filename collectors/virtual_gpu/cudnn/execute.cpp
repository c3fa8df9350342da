// Running a plan: the graph was described when the plan was finalised, the variant pack says where its
// tensors are.
#include <algorithm>

#include "cudnn/backend.h"
#include "cudnn/graph.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::cudnn;

ATTNSCOPE_EXPORT Status cudnnBackendExecute(Context* context, const BackendHandle* plan,
                                            const BackendHandle* pack) {
    if (!plan || !pack) return bad_param_null_pointer;
    if (!usable(context)) return not_initialized;
    if (plan->content->kind != Kind::plan || pack->content->kind != Kind::variant_pack)
        return bad_param_descriptor_type;
    if (!plan->content->finalized || !pack->content->finalized) return bad_param_not_finalized;
    const GraphSummary& summary = *plan->content->summary;
    std::vector<int64_t> uids = pack->content->integers(attribute::pack_uids);
    std::vector<int64_t> pointers = pack->content->integers(attribute::pack_pointers);
    if (uids.size() != pointers.size())
        return fail(bad_param, "cudnnBackendExecute: the variant pack has " + std::to_string(uids.size()) +
                                   " ids and " + std::to_string(pointers.size()) + " pointers");
    std::vector<const void*> outputs;
    for (int64_t uid : summary.output_uids) {
        auto found = std::find(uids.begin(), uids.end(), uid);
        if (found != uids.end())
            outputs.push_back(
                reinterpret_cast<const void*>(pointers[static_cast<size_t>(found - uids.begin())]));
    }
    return record(context, "cudnnBackendExecute", summary.operation, summary.attributes, std::move(outputs));
}
