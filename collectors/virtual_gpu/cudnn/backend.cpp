#include "cudnn/backend.h"

#include <algorithm>
#include <cstring>

#include "cudnn/graph.h"
#include "symbols/export.h"

namespace attnscope::vgpu::cudnn {

size_t element_size(int type) {
    switch (type) {
        case 0:   // handle
        case 3:   // int64
        case 5:   // double
        case 6:   // pointer
        case 15:  // descriptor
            return 8;
        case 26:  // fraction: numerator and denominator
            return 16;
        case 2:   // bool
        case 24:  // char
            return 1;
        default:
            return type >= 0 && type <= 30 ? 4 : 0;  // enumerations, int32, float
    }
}

const Value* Descriptor::find(int name) const {
    auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
}

const Descriptor* Descriptor::child(int name, size_t index) const {
    const Value* value = find(name);
    return value && index < value->descriptors.size() ? value->descriptors[index].get() : nullptr;
}

std::vector<int64_t> Descriptor::integers(int name) const {
    std::vector<int64_t> result;
    const Value* value = find(name);
    if (!value || value->type == type::descriptor) return result;
    size_t size = element_size(value->type);
    for (int64_t i = 0; i < value->count; ++i) {
        const unsigned char* element = value->bytes.data() + static_cast<size_t>(i) * size;
        int64_t wide = 0;
        int32_t narrow = 0;
        if (size == 8) {
            std::memcpy(&wide, element, 8);
            result.push_back(wide);
        } else if (size == 4) {
            std::memcpy(&narrow, element, 4);
            result.push_back(narrow);
        } else {
            result.push_back(*element);
        }
    }
    return result;
}

int64_t Descriptor::integer(int name, int64_t otherwise) const {
    std::vector<int64_t> all = integers(name);
    return all.empty() ? otherwise : all.front();
}

namespace {

void put(Descriptor& descriptor, int name, int type, const void* data, int64_t count) {
    Value& value = descriptor.values[name];
    value = {type, count, {}, {}};
    const auto* bytes = static_cast<const unsigned char*>(data);
    value.bytes.assign(bytes, bytes + static_cast<size_t>(count) * element_size(type));
}
void put_integer(Descriptor& descriptor, int name, int64_t number) {
    put(descriptor, name, type::int64, &number, 1);
}
void put_child(Descriptor& descriptor, int name, Shared child) {
    descriptor.values[name] = {type::descriptor, 1, {}, {std::move(child)}};
}
void put_none(Descriptor& descriptor, int name, int type) {
    if (!descriptor.find(name)) descriptor.values[name] = {type, 0, {}, {}};
}

/// Attribute names that a descriptor has, by its kind; kinds without a row are not checked.
struct NameRange {
    Kind kind;
    int first, last;
};
constexpr NameRange name_ranges[] = {{Kind::pointwise, 0, 99},
                                     {Kind::convolution, 100, 199},
                                     {Kind::heuristics, 200, 299},
                                     {Kind::engine_config, 300, 399},
                                     {Kind::plan, 400, 499},
                                     {Kind::op_convolution_forward, 700, 705},
                                     {Kind::op_convolution_backward_data, 706, 711},
                                     {Kind::op_convolution_backward_filter, 712, 717},
                                     {Kind::op_pointwise, 750, 769},
                                     {Kind::graph, 800, 899},
                                     {Kind::tensor, 900, 999},
                                     {Kind::variant_pack, 1000, 1099},
                                     {Kind::engine, 1300, 1399},
                                     {Kind::matmul, 1500, 1519},
                                     {Kind::op_matmul, 1520, 1599},
                                     {Kind::reduction, 1600, 1609},
                                     {Kind::op_reduction, 1610, 1619}};

bool has_attribute(Kind kind, int name) {
    for (const NameRange& range : name_ranges)
        if (range.kind == kind) return name >= range.first && name <= range.last;
    return true;
}

/// Types of the attributes of tensors; -1 for the rest, which is not checked.
int expected_type(Kind kind, int name) {
    if (kind != Kind::tensor) return -1;
    switch (name) {
        case attribute::tensor_type:
            return type::data_type;
        case attribute::tensor_virtual:
        case attribute::tensor_by_value:
            return type::boolean;
        case attribute::tensor_dimensions:
        case attribute::tensor_strides:
        case attribute::tensor_uid:
            return type::int64;
        default:
            return -1;
    }
}

void complete_engine(Descriptor& engine) {
    if (!engine.find(attribute::engine_index)) put_integer(engine, attribute::engine_index, 0);
    put_none(engine, attribute::engine_knobs, type::descriptor);
    put_none(engine, attribute::engine_layouts, type::descriptor);
    put_none(engine, attribute::engine_numerical_notes, 11);
    put_none(engine, attribute::engine_behavior_notes, 19);
    engine.finalized = true;
}

void complete_config(Descriptor& config) {
    put_none(config, attribute::config_intermediates, type::descriptor);
    put_none(config, attribute::config_knobs, type::descriptor);
    put_integer(config, attribute::config_workspace, 0);
    int32_t shared = 0;
    put(config, attribute::config_shared_memory, type::int32, &shared, 1);
    config.finalized = true;
}

/// The one engine that every graph is said to have.
Shared config_for(const Shared& graph) {
    auto engine = std::make_shared<Descriptor>(Descriptor{Kind::engine, false, {}, {}});
    put_child(*engine, attribute::engine_graph, graph);
    complete_engine(*engine);
    auto config = std::make_shared<Descriptor>(Descriptor{Kind::engine_config, false, {}, {}});
    put_child(*config, attribute::config_engine, engine);
    complete_config(*config);
    return config;
}

Status complete(Descriptor& d) {
    if (d.finalized) return fail(bad_param, "cudnnBackendFinalize: the descriptor is already finalized");
    auto missing = [](const char* what) {
        return fail(bad_param, std::string("cudnnBackendFinalize: missing ") + what);
    };
    switch (d.kind) {
        case Kind::tensor:
            if (!d.find(attribute::tensor_type) || !d.find(attribute::tensor_dimensions) ||
                !d.find(attribute::tensor_strides) || !d.find(attribute::tensor_uid))
                return missing("data type, dimensions, strides or unique id of a tensor");
            if (d.find(attribute::tensor_dimensions)->count != d.find(attribute::tensor_strides)->count)
                return fail(bad_param,
                            "cudnnBackendFinalize: a tensor's dimensions and strides differ in number");
            for (int name : {attribute::tensor_virtual, attribute::tensor_by_value}) {
                constexpr bool no = false;
                if (!d.find(name)) put(d, name, type::boolean, &no, 1);
            }
            break;
        case Kind::graph:
            if (!d.find(attribute::graph_operations)) return missing("operations of an operation graph");
            put_integer(d, attribute::graph_engine_count, 1);
            break;
        case Kind::heuristics: {
            const Value* graph = d.find(attribute::heuristics_graph);
            if (!graph || graph->descriptors.empty()) return missing("operation graph of engine heuristics");
            put_child(d, attribute::heuristics_results, config_for(graph->descriptors.front()));
            break;
        }
        case Kind::engine:
            if (!d.child(attribute::engine_graph)) return missing("operation graph of an engine");
            complete_engine(d);
            break;
        case Kind::engine_config:
            if (!d.child(attribute::config_engine)) return missing("engine of an engine configuration");
            complete_config(d);
            break;
        case Kind::plan: {
            const Descriptor* config = d.child(attribute::plan_config);
            const Descriptor* engine = config ? config->child(attribute::config_engine) : nullptr;
            const Descriptor* graph = engine ? engine->child(attribute::engine_graph) : nullptr;
            if (!graph) return missing("engine configuration of an execution plan");
            put_integer(d, attribute::plan_workspace, 0);
            put_none(d, attribute::plan_computed_uids, type::int64);
            constexpr char json[] = "{\"engine\":\"attnscope virtual GPU\"}";
            put(d, attribute::plan_json, type::character, json, sizeof json);
            d.summary = std::make_shared<const GraphSummary>(summarise(*graph));
            break;
        }
        case Kind::device_properties: {
            constexpr char json[] = "{\"device\":\"attnscope virtual GPU\"}";
            put(d, attribute::device_properties_json, type::character, json, sizeof json);
            break;
        }
        default:
            break;
    }
    d.finalized = true;
    return success;
}

}  // namespace
}  // namespace attnscope::vgpu::cudnn

using namespace attnscope::vgpu::cudnn;

ATTNSCOPE_EXPORT Status cudnnBackendCreateDescriptor(int kind, BackendHandle** handle) {
    if (!handle) return bad_param_null_pointer;
    if (kind < 0 || kind > static_cast<int>(Kind::last))
        return fail(host_allocation_failed, "unknown descriptor type");
    *handle =
        new BackendHandle{std::make_shared<Descriptor>(Descriptor{static_cast<Kind>(kind), false, {}, {}})};
    return success;
}

ATTNSCOPE_EXPORT Status cudnnBackendDestroyDescriptor(BackendHandle* handle) {
    if (!handle) return bad_param_null_pointer;
    delete handle;
    return success;
}

ATTNSCOPE_EXPORT Status cudnnBackendInitialize(BackendHandle* handle) {
    if (!handle) return bad_param_null_pointer;
    handle->content = std::make_shared<Descriptor>(Descriptor{handle->content->kind, false, {}, {}});
    return success;
}

ATTNSCOPE_EXPORT Status cudnnBackendFinalize(BackendHandle* handle) {
    if (!handle) return bad_param_null_pointer;
    return complete(*handle->content);
}

ATTNSCOPE_EXPORT Status cudnnBackendSetAttribute(BackendHandle* handle, int name, int type, int64_t count,
                                                 const void* elements) {
    if (!handle) return bad_param_null_pointer;
    if (count > 0 && !elements) return fail(bad_param, "cudnnBackendSetAttribute: no elements");
    Descriptor& descriptor = *handle->content;
    if (descriptor.finalized) return fail(bad_param, "cudnnBackendSetAttribute: the descriptor is finalized");
    if (element_size(type) == 0 || count < 0 || !has_attribute(descriptor.kind, name))
        return fail(bad_param, "cudnnBackendSetAttribute: no attribute " + std::to_string(name) +
                                   " of type " + std::to_string(type));
    if (int expected = expected_type(descriptor.kind, name); expected >= 0 && expected != type)
        return bad_param_attribute_type;
    if (type != attnscope::vgpu::cudnn::type::descriptor) {
        put(*handle->content, name, type, elements, count);
        return success;
    }
    Value value{type, count, {}, {}};
    for (int64_t i = 0; i < count; ++i) {
        const BackendHandle* child = static_cast<BackendHandle* const*>(elements)[i];
        if (!child) return bad_param_null_pointer;
        value.descriptors.push_back(child->content);
    }
    handle->content->values[name] = std::move(value);
    return success;
}

/// Without a buffer it answers how many elements there are. Descriptors are read into ones that the caller
/// created.
ATTNSCOPE_EXPORT Status cudnnBackendGetAttribute(const BackendHandle* handle, int name, int type,
                                                 int64_t requested, int64_t* count, void* elements) {
    if (!handle) return bad_param_null_pointer;
    const Descriptor& descriptor = *handle->content;
    if (!descriptor.finalized)
        return fail(not_initialized, "cudnnBackendGetAttribute: the descriptor is not finalized");
    if (!has_attribute(descriptor.kind, name)) return bad_param;
    const Value* value = descriptor.find(name);
    if (!value) {
        if (count) *count = 0;
        return fail(not_supported,
                    "cudnnBackendGetAttribute: attribute " + std::to_string(name) + " was not set");
    }
    if (value->type != type) return bad_param_attribute_type;
    if (count) *count = value->count;
    if (requested <= 0 || !elements) return success;
    int64_t copied = std::min(requested, value->count);
    if (count) *count = copied;
    if (type != attnscope::vgpu::cudnn::type::descriptor) {
        std::memcpy(elements, value->bytes.data(), static_cast<size_t>(copied) * element_size(type));
        return success;
    }
    for (int64_t i = 0; i < copied; ++i) {
        BackendHandle* target = static_cast<BackendHandle* const*>(elements)[i];
        if (!target) return bad_param_null_pointer;
        const Shared& source = value->descriptors[static_cast<size_t>(i)];
        if (target->content->kind != source->kind) return bad_param_descriptor_type;
        target->content = std::make_shared<Descriptor>(*source);
    }
    return success;
}
