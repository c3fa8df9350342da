#include "chip_host.h"

#include <cstdlib>
#include <limits>
#include <memory>
#include <set>

#include "attnscope/error.h"

namespace attnscope::cupti_host {
namespace {

std::string text(const char* words) {
    return words == nullptr ? std::string() : std::string(words);
}

std::vector<const char*> pointers(const std::vector<std::string>& names) {
    std::vector<const char*> list;
    list.reserve(names.size());
    for (const std::string& name : names) list.push_back(name.c_str());
    return list;
}

/// A roll-up that every metric of this type has.
const char* some_rollup(CUpti_MetricType type) {
    switch (type) {
        case CUPTI_METRIC_TYPE_RATIO:
            return ".pct";
        case CUPTI_METRIC_TYPE_THROUGHPUT:
            return ".avg.pct_of_peak_sustained_elapsed";
        default:
            return ".sum";
    }
}

}  // namespace

const char* to_string(CUpti_MetricType type) {
    switch (type) {
        case CUPTI_METRIC_TYPE_RATIO:
            return "ratio";
        case CUPTI_METRIC_TYPE_THROUGHPUT:
            return "throughput";
        default:
            return "counter";
    }
}

std::vector<std::string> supported_chips(const HostApi& api) {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params, params);
    if (const CUptiResult result = api.supported_chips(&params); result != CUPTI_SUCCESS)
        throw Error(api.path + ": cuptiProfilerHostGetSupportedChips answered " + api.describe(result) +
                    "; libnvperf_host.so must lie beside libcupti");
    return {params.ppChipNames, params.ppChipNames + params.numChips};
}

ChipHost::ChipHost(const HostApi& api, std::string chip, std::string availability)
    : api_(api), chip_(std::move(chip)), availability_(std::move(availability)) {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip_.c_str();
    if (!availability_.empty())
        params.pCounterAvailabilityImage = reinterpret_cast<const uint8_t*>(availability_.data());
    const CUptiResult result = api_.initialize(&params);
    if (result == CUPTI_SUCCESS) {
        object_ = params.pHostObject;
        return;
    }
    std::string known;
    bool listed = false;
    for (const std::string& name : supported_chips(api_)) {
        known += (known.empty() ? "" : ", ") + name;
        listed = listed || name == chip_;
    }
    if (listed)
        throw Error("CUPTI lists the chip " + chip_ + " and then refuses it: " + api_.describe(result));
    throw Error("CUPTI " + std::to_string(api_.version) + " knows no chip \"" + chip_ + "\"; it knows " +
                known);
}

ChipHost::~ChipHost() {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
    params.pHostObject = object_;
    api_.deinitialize(&params);
}

std::vector<Metric> ChipHost::metrics() const {
    std::vector<Metric> list;
    for (int type = 0; type < CUPTI_METRIC_TYPE__COUNT; ++type) {
        ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params, params);
        params.pHostObject = object_;
        params.metricType = static_cast<CUpti_MetricType>(type);
        if (const CUptiResult result = api_.base_metrics(&params); result != CUPTI_SUCCESS)
            throw Error("cuptiProfilerHostGetBaseMetrics answered " + api_.describe(result) + " for " +
                        chip_);
        for (size_t i = 0; i < params.numMetrics; ++i) {
            Metric metric;
            metric.name = text(params.ppMetricNames[i]);
            metric.type = params.metricType;
            // CUPTI 12.8 answers only for names with a roll-up; without one the unit is that of the base.
            for (const std::string& name : {metric.name, metric.name + some_rollup(metric.type)}) {
                ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, properties);
                properties.pHostObject = object_;
                properties.pMetricName = name.c_str();
                if (api_.metric_properties(&properties) != CUPTI_SUCCESS) continue;
                metric.description = text(properties.pDescription);
                metric.unit = text(properties.pDimUnit);
                metric.hardware = text(properties.pHwUnit);
                break;
            }
            list.push_back(std::move(metric));
        }
    }
    return list;
}

std::vector<std::string> ChipHost::list_submetrics(const std::string& name, CUpti_MetricType type) const {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params, params);
    params.pHostObject = object_;
    params.metricType = type;
    params.pMetricName = name.c_str();
    if (api_.sub_metrics(&params) != CUPTI_SUCCESS) return {};
    return {params.ppSubMetrics, params.ppSubMetrics + params.numOfSubmetrics};
}

std::vector<std::string> ChipHost::submetrics(const Metric& metric) const {
    return list_submetrics(metric.name + some_rollup(metric.type), metric.type);
}

std::optional<CUpti_MetricType> ChipHost::type_of(const std::string& name) const {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
    params.pHostObject = object_;
    params.pMetricName = name.c_str();
    if (api_.metric_properties(&params) != CUPTI_SUCCESS) return std::nullopt;
    return params.metricType;
}

bool ChipHost::knows(const std::string& name) const {
    const std::optional<CUpti_MetricType> type = type_of(name);
    if (!type) return false;
    // The properties of a base name are known too (13.0), but it cannot be collected. The base may hold dots,
    // so the roll-up is told from behind.
    for (const std::string& rollup : list_submetrics(name, *type))
        if (name.size() > rollup.size() && name.ends_with(rollup)) return true;
    return false;
}

CUptiResult ChipHost::add(const std::vector<std::string>& names) const {
    const std::vector<const char*> list = pointers(names);
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, params);
    params.pHostObject = object_;
    params.ppMetricNames = const_cast<const char**>(list.data());
    params.numMetrics = list.size();
    return api_.add_metrics(&params);
}

/// Device-level counters (PCIe, NVLink) are refused beside those of a context, and CUPTI does not say which:
/// the names asked for first decide. An attempt needs an object of its own, for a refusal spoils it.
void ChipHost::set_apart(Plan& plan) const {
    std::vector<std::string> kept, left = std::move(plan.metrics);
    const auto accepted = [&](size_t further) {
        std::vector<std::string> tried = kept;
        tried.insert(tried.end(), left.begin(), left.begin() + static_cast<std::ptrdiff_t>(further));
        return ChipHost(api_, chip_, availability_).add(tried) == CUPTI_SUCCESS;
    };
    while (!left.empty()) {
        // Bisection: the first `fit` of those left go along, the next one does not.
        size_t fit = 0, fail = left.size() + 1;
        while (fail - fit > 1) {
            const size_t middle = fit + (fail - fit) / 2;
            (accepted(middle) ? fit : fail) = middle;
        }
        const auto next = left.begin() + static_cast<std::ptrdiff_t>(fit);
        kept.insert(kept.end(), left.begin(), next);
        if (next != left.end()) plan.apart.push_back(*next);
        left.erase(left.begin(), next != left.end() ? next + 1 : next);
    }
    plan.metrics = std::move(kept);
}

Plan ChipHost::plan(const std::vector<std::string>& names) const {
    Plan plan;
    std::set<std::string> seen;
    for (const std::string& name : names)
        if (seen.insert(name).second) (knows(name) ? plan.metrics : plan.absent).push_back(name);
    if (plan.metrics.empty()) return plan;

    auto object = std::make_unique<ChipHost>(api_, chip_, availability_);
    CUptiResult result = object->add(plan.metrics);
    if (result != CUPTI_SUCCESS) {
        set_apart(plan);
        if (plan.metrics.empty()) return plan;
        object = std::make_unique<ChipHost>(api_, chip_, availability_);
        result = object->add(plan.metrics);
        if (result != CUPTI_SUCCESS)
            throw Error("CUPTI does not collect these metrics on " + chip_ + ": " + api_.describe(result));
    }
    object->make_image(plan);
    return plan;
}

void ChipHost::make_image(Plan& plan) const {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = object_;
    CUptiResult result = api_.config_size(&size);
    if (result == CUPTI_SUCCESS) {
        plan.image.resize(size.configImageSize);
        ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
        image.pHostObject = object_;
        image.configImageSize = plan.image.size();
        image.pConfigImage = reinterpret_cast<uint8_t*>(plan.image.data());
        result = api_.config_image(&image);
    }
    if (result == CUPTI_SUCCESS) {
        // Crashes on an image that is not CUPTI's, so it is only ever asked about our own.
        ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
        passes.configImageSize = plan.image.size();
        passes.pConfigImage = reinterpret_cast<uint8_t*>(plan.image.data());
        result = api_.passes(&passes);
        plan.passes = passes.numOfPasses;
    }
    if (result != CUPTI_SUCCESS)
        throw Error("CUPTI makes no config image of these metrics on " + chip_ + ": " +
                    api_.describe(result));
}

CUptiResult ChipHost::ranges(const std::string& image, size_t& count) const {
    ATTNSCOPE_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, params);
    params.pCounterDataImage = reinterpret_cast<const uint8_t*>(image.data());
    params.counterDataImageSize = image.size();
    const CUptiResult result = api_.data_info(&params);
    count = result == CUPTI_SUCCESS ? params.numTotalRanges : 0;
    return result;
}

CUptiResult ChipHost::evaluate(const std::string& image, size_t range, const std::vector<const char*>& names,
                               std::vector<double>& values) const {
    // On an error CUPTI leaves the output alone; zeros would look like values.
    values.assign(names.size(), std::numeric_limits<double>::quiet_NaN());
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
    params.pHostObject = object_;
    params.pCounterDataImage = reinterpret_cast<const uint8_t*>(image.data());
    params.counterDataImageSize = image.size();
    params.rangeIndex = range;
    params.ppMetricNames = const_cast<const char**>(names.data());
    params.numMetrics = names.size();
    params.pMetricValues = values.data();
    return api_.evaluate(&params);
}

std::optional<std::string> ChipHost::range_name(const std::string& image, size_t range) const {
    ATTNSCOPE_PARAMS(CUpti_Profiler_Host_GetRangeName_Params, params);
    params.pCounterDataImage = reinterpret_cast<const uint8_t*>(image.data());
    params.counterDataImageSize = image.size();
    params.rangeIndex = range;
    params.delimiter = "/";
    if (api_.range_name(&params) != CUPTI_SUCCESS || params.pRangeName == nullptr) return std::nullopt;
    std::string name = params.pRangeName;
    std::free(const_cast<char*>(params.pRangeName));  // the caller's, says cupti_profiler_host.h
    return name;
}

}  // namespace attnscope::cupti_host
