#include "metric_json.h"

#include <iostream>

namespace attnscope::cli {
namespace {

MetricJson role_json(const RoleOnChip& on) {
    MetricJson json = {{"role", on.role->role}, {"title", on.role->title}, {"sets", on.role->sets}};
    json["unit"] = to_string(on.role->unit);
    if (on.absent.empty()) {
        json["formula"] = on.formula;
        json["metrics"] = on.names;
    } else {
        json["absent"] = on.absent;
    }
    json["meaning"] = on.role->meaning;
    return json;
}

void add_plan(MetricJson& json, const CounterPlan& plan) {
    json["passes"] = plan.passes;
    json["metrics"] = plan.metrics;
    if (!plan.apart.empty()) json["apart"] = plan.apart;
}

}  // namespace

MetricJson to_json(const std::vector<ChipSets>& chips) {
    MetricJson list = MetricJson::array();
    for (const ChipSets& on : chips) {
        MetricJson chip = {{"chip", on.chip}};
        if (!on.refused.empty()) chip["refused"] = on.refused;
        for (const SetOnChip& set : on.sets) {
            chip["cupti"] = set.plan.cupti;
            MetricJson entry = {{"set", set.set}};
            add_plan(entry, set.plan);
            entry["roles"] = MetricJson::array();
            for (const RoleOnChip& role : set.roles) entry["roles"].push_back(role_json(role));
            chip["sets"].push_back(std::move(entry));
        }
        list.push_back(std::move(chip));
    }
    return {{"chips", std::move(list)}};
}

MetricJson to_json(const std::vector<Comparison>& chips) {
    MetricJson list = MetricJson::array();
    for (const Comparison& one : chips) {
        MetricJson chip = {{"chip", one.chip}, {"cupti", one.core.cupti}, {"core", one.core.passes}};
        for (const Comparison::Row& row : one.rows) {
            MetricJson entry = {{"nsight_compute", row.name},
                                {"passes", row.plan.passes},
                                {"metrics", row.plan.metrics.size()},
                                {"named", row.asked}};
            if (one.core.passes != 0)
                entry["ratio"] = static_cast<double>(row.plan.passes) / static_cast<double>(one.core.passes);
            chip["compared"].push_back(std::move(entry));
        }
        list.push_back(std::move(chip));
    }
    return {{"chips", std::move(list)}};
}

MetricJson to_json(const Passes& passes) {
    MetricJson json = {{"chip", passes.plan.chip}, {"cupti", passes.plan.cupti}};
    add_plan(json, passes.plan);
    json["absent"] = MetricJson::object();
    for (const auto& [name, why] : passes.absent) json["absent"][name] = why;
    return json;
}

MetricJson to_json(const Found& found) {
    MetricJson json = {
        {"chip", found.chip}, {"roles", MetricJson::array()}, {"metrics", MetricJson::array()}};
    for (const RoleOnChip& role : found.roles) json["roles"].push_back(role_json(role));
    for (const VendorMetric& metric : found.metrics) {
        MetricJson entry = {{"name", metric.name}, {"kind", metric.kind}};
        if (!metric.description.empty()) entry["description"] = metric.description;
        if (!metric.unit.empty()) entry["unit"] = metric.unit;
        if (!metric.hardware.empty()) entry["hardware"] = metric.hardware;
        entry["rollups"] = metric.submetrics;
        json["metrics"].push_back(std::move(entry));
    }
    return json;
}

void print_json(const MetricJson& json) {
    std::cout << json.dump(2, ' ', false, MetricJson::error_handler_t::replace) << '\n';
}

}  // namespace attnscope::cli
