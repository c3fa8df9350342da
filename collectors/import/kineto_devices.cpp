#include "kineto_devices.h"

#include <unordered_set>

#include "finish.h"
#include "json_scan.h"

namespace attnscope::importer {
namespace {

constexpr size_t kMostListed = 4096;

/// The object's fields; empty where it cannot be read.
std::vector<JsonField> fields_of(std::string_view object) {
    std::vector<JsonField> fields;
    JsonText text{object.data(), object.data() + object.size()};
    if (text.peek() != '{' || scan_object(text, fields) != Scan::ok) fields.clear();
    return fields;
}

std::optional<uint64_t> number(const std::vector<JsonField>& fields,
                               std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        for (const JsonField& f : fields)
            if (f.key == key) return json_u64(f);
    return std::nullopt;
}

std::optional<uint32_t> figure(const std::vector<JsonField>& fields,
                               std::initializer_list<std::string_view> keys) {
    const auto value = number(fields, keys);
    if (!value || *value == 0 || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

}  // namespace

std::vector<Device> kineto_devices(std::string_view array) {
    std::vector<Device> out;
    std::unordered_set<int32_t> seen;
    for (const JsonField& element : array_elements(array, kMostListed)) {
        const auto fields = fields_of(element.raw);
        const auto id = number(fields, {"id"});
        if (!id || *id > INT32_MAX) continue;
        Device d;
        d.ordinal = static_cast<int32_t>(*id);
        if (!seen.insert(d.ordinal).second) continue;
        for (const JsonField& f : fields)
            if (f.key == "name" && f.kind == JsonKind::string) d.name = valid_utf8(unescape(f.raw));
        d.memory_bytes = number(fields, {"totalGlobalMem"});
        d.major = figure(fields, {"computeMajor", "major"});
        if (d.major) {  // a minor of 0 says something beside a major alone
            const auto minor = number(fields, {"computeMinor", "minor"});
            if (minor && *minor < 100) d.minor = static_cast<uint32_t>(*minor);
        }
        d.sm_count = figure(fields, {"numSms", "multiProcessorCount"});
        d.warp_size = figure(fields, {"warpSize"});
        d.max_threads_per_sm = figure(fields, {"maxThreadsPerMultiprocessor", "maxThreadsPerMultiProcessor"});
        d.max_threads_per_cta = figure(fields, {"maxThreadsPerBlock"});
        d.registers_per_sm = figure(fields, {"regsPerMultiprocessor"});
        d.registers_per_cta = figure(fields, {"regsPerBlock"});
        d.shared_per_sm = figure(fields, {"sharedMemPerMultiprocessor", "maxSharedMemoryPerMultiProcessor"});
        d.shared_per_cta = figure(fields, {"sharedMemPerBlock"});
        d.shared_per_cta_optin = figure(fields, {"sharedMemPerBlockOptin"});
        out.push_back(std::move(d));
    }
    return out;
}

std::optional<uint64_t> kineto_rank(std::string_view distributed_info) {
    return number(fields_of(distributed_info), {"rank"});
}

}  // namespace attnscope::importer
