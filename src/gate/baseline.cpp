#include "attnscope/baseline.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "attnscope/error.h"

namespace attnscope::gate {
namespace {

using Json = nlohmann::json;  // objects are sorted by key

constexpr const char* kVersion = "1.0";
constexpr uintmax_t kLargestFile = 64u << 20;

Json value_of(const Measurement& m) {
    if (!m.text.empty()) return m.text;
    if (find_gate_metric(m.metric)->kind == MetricClass::exact) return m.samples.front();
    return m.samples;
}

/// A whole number is written as one: "1", not "1.0".
Json tidy(const Json& value) {
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json& one : value) out.push_back(tidy(one));
        return out;
    }
    if (!value.is_number_float()) return value;
    const double number = value;
    if (number == std::floor(number) && std::fabs(number) < 9e15) return static_cast<int64_t>(number);
    return value;
}

void put(Json& out, const std::vector<Measurement>& measurements) {
    for (const Measurement& m : measurements) {
        if (m.known())
            out[m.metric] = tidy(value_of(m));
        else
            out["absent"][m.metric] = m.absent;
    }
}

Json facts_object(const std::vector<Fact>& facts) {
    Json out = Json::object();
    for (const Fact& f : facts) out[f.label] = f.value;
    return out;
}

Json subject_object(const Subject& s) {
    Json out = Json::object();
    put(out, s.measurements);
    if (!s.reason.empty()) out["reason"] = s.reason;
    if (!s.attention_calls.empty()) out["attention_calls"] = s.attention_calls;
    if (!s.findings.empty()) out["findings"] = s.findings;
    for (const Part& p : s.parts) {
        Json part = {{"kind", to_string(p.level)}, {"name", p.name}};
        if (!p.place.empty()) part["place"] = p.place;
        put(part, p.measurements);
        out["parts"].push_back(std::move(part));
    }
    return out;
}

/// Reads with the place in words, so that an error can name it.
class Reader {
  public:
    explicit Reader(std::string origin) : origin_(std::move(origin)) {}

    [[noreturn]] void fail(const std::string& place, const std::string& what) const {
        throw Error("the baseline " + origin_ + " cannot be used: " + place + " " + what +
                    "; take it from version control, or write it anew with --write-baseline");
    }
    const Json& member(const Json& object, const char* key, const std::string& place) const {
        if (!object.contains(key)) fail(place, std::string("has no '") + key + "'");
        return object[key];
    }
    std::string text(const Json& value, const std::string& place) const {
        if (!value.is_string()) fail(place, "is not a string");
        return value;
    }
    std::vector<std::string> texts(const Json& object, const char* key, const std::string& place) const {
        std::vector<std::string> out;
        if (!object.contains(key)) return out;
        if (!object[key].is_array()) fail(place + "." + key, "is not a list");
        for (const Json& one : object[key]) out.push_back(text(one, place + "." + key));
        return out;
    }
    double number(const Json& value, const std::string& place) const {
        if (!value.is_number()) fail(place, "is not a number");
        const double n = value;
        if (!std::isfinite(n) || n < 0) fail(place, "is not a finite number from 0 up");
        return n;
    }
    std::vector<Fact> facts(const Json& root, const char* key) const {
        std::vector<Fact> out;
        const Json& object = member(root, key, "it");
        if (!object.is_object()) fail(key, "is not an object");
        for (const auto& [label, value] : object.items())
            out.push_back({label, text(value, std::string(key) + "." + label)});
        return out;
    }
    std::vector<Measurement> measurements(const Json& object, const std::string& place, Level level,
                                          const std::set<std::string>& other_keys) const;
    Subject subject(const std::string& name, const Json& object) const;

  private:
    std::string origin_;
};

std::vector<Measurement> Reader::measurements(const Json& object, const std::string& place, Level level,
                                              const std::set<std::string>& other_keys) const {
    std::vector<Measurement> out;
    const auto metric = [&](const std::string& key) {
        const GateMetric* m = find_gate_metric(key);
        if (!m || !m->has(level)) fail(place + "." + key, "is no metric that this version knows");
        return m;
    };
    for (const auto& [key, value] : object.items()) {
        if (other_keys.count(key) != 0) continue;
        const GateMetric* m = metric(key);
        const std::string at = place + "." + key;
        if (m->unit == Unit::none && m->kind == MetricClass::exact) {
            out.push_back({key, {}, text(value, at), {}});
        } else if (m->kind == MetricClass::exact) {
            out.push_back({key, {number(value, at)}, {}, {}});
        } else {
            if (!value.is_array() || value.empty()) fail(at, "is not a list of numbers, one for each run");
            Measurement samples{key, {}, {}, {}};
            for (const Json& one : value) samples.samples.push_back(number(one, at));
            out.push_back(std::move(samples));
        }
    }
    if (object.contains("absent")) {
        if (!object["absent"].is_object()) fail(place + ".absent", "is not an object");
        for (const auto& [key, why] : object["absent"].items()) {
            metric(key);
            out.push_back({key, {}, {}, text(why, place + ".absent." + key)});
        }
    }
    return out;
}

Subject Reader::subject(const std::string& name, const Json& object) const {
    const std::string place = "implementations." + name;
    if (!object.is_object()) fail(place, "is not an object");
    Subject out;
    out.name = name;
    out.measurements = measurements(object, place, Level::implementation,
                                    {"absent", "reason", "attention_calls", "findings", "parts"});
    if (object.contains("reason")) out.reason = text(object["reason"], place + ".reason");
    out.attention_calls = texts(object, "attention_calls", place);
    out.findings = texts(object, "findings", place);
    if (!object.contains("parts")) return out;
    if (!object["parts"].is_array()) fail(place + ".parts", "is not a list");
    for (size_t i = 0; i < object["parts"].size(); ++i) {
        const Json& json = object["parts"][i];
        const std::string at = place + ".parts[" + std::to_string(i) + "]";
        if (!json.is_object()) fail(at, "is not an object");
        const std::string kind = text(member(json, "kind", at), at + ".kind");
        Part part;
        bool known = false;
        for (const Level level : {Level::kernel, Level::library_call, Level::copy, Level::memset})
            if (kind == to_string(level)) {
                part.level = level;
                known = true;
            }
        if (!known) fail(at + ".kind", "is neither kernel, library call, copy nor memset");
        part.name = text(member(json, "name", at), at + ".name");
        if (json.contains("place")) part.place = text(json["place"], at + ".place");
        part.measurements = measurements(json, at, part.level, {"absent", "kind", "name", "place"});
        if (out.find_part(part.level, part.place, part.name)) fail(at, "comes twice");
        out.parts.push_back(std::move(part));
    }
    return out;
}

Ground ground_of(const Reader& reader, const std::string& word, const std::string& place) {
    for (const Ground g : {Ground::real, Ground::imported, Ground::fixture, Ground::virtual_gpu})
        if (word == attnscope::to_string(g)) return g;
    reader.fail(place, "is neither real, imported, fixture nor virtual");
}

}  // namespace

std::string to_json(const Baseline& baseline) {
    const GateFacts& f = baseline.facts;
    Json out;
    out["schema"] = "attnscope-baseline";
    out["version"] = kVersion;
    out["reason"] = baseline.reason;
    out["matched_on"] = {{"ground", attnscope::to_string(f.ground)}, {"gpu", f.gpu}};
    if (f.counter_ground) out["counter_ground"] = attnscope::to_string(*f.counter_ground);
    out["runs"] = f.runs;
    if (!f.sm_clock.empty()) out["sm_clock_mhz"] = tidy(Json(f.sm_clock));
    out["inputs"] = facts_object(f.inputs);
    out["environment"] = facts_object(f.environment);
    out["implementations"] = Json::object();
    for (const Subject& s : f.subjects) out["implementations"][s.name] = subject_object(s);
    // Kernel names come from programs: what is not UTF-8 must not stop the writing.
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Baseline read_baseline(std::string_view json, const std::string& origin) {
    const Reader reader(origin);
    Json root;
    try {
        root = Json::parse(json);
    } catch (const Json::parse_error& e) {
        reader.fail("byte " + std::to_string(e.byte), "is not JSON");
    } catch (const Json::exception& e) {  // a number that fits nowhere
        reader.fail("it", std::string("is not JSON that can be used (") + e.what() + ")");
    }
    if (!root.is_object() || !root.contains("schema") || root["schema"] != "attnscope-baseline")
        reader.fail("it", "is not a baseline of attnscope (no schema \"attnscope-baseline\")");
    const std::string version = reader.text(reader.member(root, "version", "it"), "version");
    if (version.substr(0, version.find('.')) != std::to_string(kBaselineMajor))
        reader.fail("it", "is of version " + version.substr(0, 20) + ", this attnscope reads version " +
                              std::to_string(kBaselineMajor));
    Baseline out;
    out.reason = reader.text(reader.member(root, "reason", "it"), "reason");
    const Json& matched = reader.member(root, "matched_on", "it");
    if (!matched.is_object()) reader.fail("matched_on", "is not an object");
    out.facts.ground =
        ground_of(reader, reader.text(reader.member(matched, "ground", "matched_on"), "matched_on.ground"),
                  "matched_on.ground");
    out.facts.gpu = reader.text(reader.member(matched, "gpu", "matched_on"), "matched_on.gpu");
    if (root.contains("counter_ground"))
        out.facts.counter_ground =
            ground_of(reader, reader.text(root["counter_ground"], "counter_ground"), "counter_ground");
    const double runs = reader.number(reader.member(root, "runs", "it"), "runs");
    if (runs < 1 || runs > 1e6 || runs != std::floor(runs)) reader.fail("runs", "is not a count of runs");
    out.facts.runs = static_cast<size_t>(runs);
    if (root.contains("sm_clock_mhz")) {
        if (!root["sm_clock_mhz"].is_array()) reader.fail("sm_clock_mhz", "is not a list");
        for (const Json& one : root["sm_clock_mhz"])
            out.facts.sm_clock.push_back(reader.number(one, "sm_clock_mhz"));
    }
    out.facts.inputs = reader.facts(root, "inputs");
    out.facts.environment = reader.facts(root, "environment");
    const Json& subjects = reader.member(root, "implementations", "it");
    if (!subjects.is_object()) reader.fail("implementations", "is not an object");
    for (const auto& [name, object] : subjects.items())
        out.facts.subjects.push_back(reader.subject(name, object));
    if (out.facts.subjects.empty()) reader.fail("implementations", "is empty: it gates nothing");
    return out;
}

Baseline load_baseline(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        throw Error("there is no baseline " + file +
                    ": write one with 'attnscope gate RUN --write-baseline " + file + " --reason TEXT'");
    if (!std::filesystem::is_regular_file(file, error))
        throw Error("the baseline " + file + " is not a file");
    if (std::filesystem::file_size(file, error) > kLargestFile || error)
        throw Error("the baseline " + file + " is larger than 64 MiB: it was not written by attnscope");
    std::ifstream in(file, std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    if (!in) throw Error("the baseline " + file + " cannot be read");
    return read_baseline(bytes.str(), file);
}

}  // namespace attnscope::gate
