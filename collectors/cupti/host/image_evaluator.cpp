#include "image_evaluator.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "attnscope/error.h"

namespace attnscope::cupti_host {
namespace {

namespace fs = std::filesystem;

/// More kernels than any graph launch has: a damaged header.
constexpr uint64_t kMostKernels = 1u << 20;

/// The availability image of a config, which CUPTI needs for chips newer than itself. The ask names it.
std::string availability_of(const fs::path& folder, const std::string& key) {
    std::ifstream ask(folder / (key + ".ask"));
    for (std::string name, value; ask >> name && std::getline(ask >> std::ws, value);) {
        if (name != "availability" || value.find('/') != std::string::npos) continue;
        std::ifstream file(folder / value, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    return {};
}

bool made_on_virtual_gpu(const std::string& image) {
    return image.compare(0, sizeof kVirtualImageMagic, kVirtualImageMagic, sizeof kVirtualImageMagic) == 0;
}

std::string reason(Trouble why, const Case& one) {
    switch (why) {
        case Trouble::unjoined:
            return "CUPTI counted " + std::to_string(one.found) + " ranges for " +
                   std::to_string(one.expected) + " kernels";
        case Trouble::dropped:
            return "CUPTI dropped ranges of this launch";
        case Trouble::graph_order:
            return "the order of the graph's kernels is not known";
        case Trouble::damaged:
            return "the raw counter data is damaged";
        case Trouble::foreign:
            return "the raw counter data is the virtual GPU's, and another CUPTI evaluated it";
        default:
            return "CUPTI cannot evaluate the raw counter data";
    }
}

}  // namespace

ChipHost* ImageEvaluator::host_of(const std::string& key) {
    const std::string chip = chip_of_key(key);
    if (chip.empty()) return nullptr;
    std::unique_ptr<ChipHost>& host = hosts_[chip];
    if (host != nullptr) return host.get();
    const std::vector<std::string> listed = supported_chips(api_);
    const bool known = std::find(listed.begin(), listed.end(), chip) != listed.end();
    try {
        host = std::make_unique<ChipHost>(api_, chip, known ? std::string() : availability_of(folder_, key));
    } catch (const Error&) {  // told as the images' error
    }
    return host.get();
}

uint64_t ImageEvaluator::metric_id(const std::string& name, const std::string& chip) {
    const auto [entry, added] = metrics_.try_emplace({chip, name}, metrics_.size() + 1);
    // A child that goes on behind a crash numbers as the one before did, and writes what is new.
    if (added && entry->second > tally_.metrics) {
        lines_.metric(entry->second, name, chip);
        tally_.metrics = entry->second;
    }
    return entry->second;
}

std::unique_ptr<ImageEvaluator::Config> ImageEvaluator::load(const std::string& key) {
    const fs::path path = folder_ / (key + ".config");
    std::ifstream file(path, std::ios::binary);
    if (chip_of_key(key).empty() || !file) return nullptr;
    auto config = std::make_unique<Config>();
    try {
        config->file = read_config(file, path.string());
    } catch (const Error&) {  // told as the images' error
        return nullptr;
    }
    for (const std::string& name : config->file.metrics) {
        config->names.push_back(name.c_str());
        config->ids.push_back(metric_id(name, chip_of_key(key)));
    }
    config->host = host_of(key);
    if (config->file.cupti_version != api_.version) tally_.other_cupti = config->file.cupti_version;
    return config;
}

void ImageEvaluator::take_config(const DataRecord& record) {
    const Config*& current = current_[record.header.device];
    current = nullptr;
    if (!record.intact) return;
    const auto [entry, added] = configs_.try_emplace(record.payload);
    if (added) entry->second = load(record.payload);
    current = entry->second.get();
}

void ImageEvaluator::lose(Trouble why, const Case& one, const DataHeader& header, const Config* config) {
    tally_.add(why, one);
    if (why == Trouble::unjoined || why == Trouble::graph_order) tally_.done.unjoined += one.found;
    if (config == nullptr) return;
    const bool nodes = !one.of_range && header.expected > 1 && header.expected <= kMostKernels &&
                       (header.flags & kNodesJoinable) != 0;
    const std::string words = reason(why, one);
    for (uint64_t node = nodes ? 1 : 0; node <= (nodes ? header.expected : 0); ++node)
        for (const uint64_t id : config->ids) {
            lines_.absent({one.of_range, header.id, node}, id, words);
            ++tally_.done.counters;
        }
}

/// In auto range a range's name is its number in the order of execution.
bool ImageEvaluator::order_of(const ChipHost& host, const std::string& image, size_t ranges,
                              std::vector<size_t>& order) {
    std::vector<std::pair<uint64_t, size_t>> numbered;
    for (size_t range = 0; range < ranges; ++range) {
        const std::string name = host.range_name(image, range).value_or("");
        uint64_t number = 0;
        const char* const end = name.data() + name.size();
        const auto [stop, error] = std::from_chars(name.data(), end, number);
        if (error != std::errc() || stop != end) return false;
        numbered.emplace_back(number, range);
    }
    std::sort(numbered.begin(), numbered.end());
    for (size_t i = 0; i < numbered.size(); ++i) {
        if (i > 0 && numbered[i].first == numbered[i - 1].first) return false;
        order.push_back(numbered[i].second);
    }
    return true;
}

void ImageEvaluator::take_image(const DataRecord& record) {
    const DataHeader& header = record.header;
    const bool of_range = header.of == DataOf::range;
    const auto found = current_.find(header.device);
    const Config* config = found == current_.end() ? nullptr : found->second;
    Case one{1, header.id, of_range ? 1 : header.expected, 0, 0, of_range};
    if (config == nullptr) return lose(Trouble::no_config, one, header, config);
    if (!record.intact) return lose(Trouble::damaged, one, header, config);
    // The stand-in hands what is not its own to NVIDIA's: only the other way round is wrong.
    if (made_on_virtual_gpu(record.payload) && api_.ground != "fixture")
        return lose(Trouble::foreign, one, header, config);
    one.result = CUPTI_ERROR_INVALID_CHIP_NAME;
    if (config->host == nullptr) return lose(Trouble::refused, one, header, config);
    const ChipHost& host = *config->host;
    size_t ranges = 0;
    one.result = host.ranges(record.payload, ranges);
    one.found = ranges;
    if (one.result != CUPTI_SUCCESS) return lose(Trouble::refused, one, header, config);
    if (header.dropped != 0) {
        one.found = header.dropped;
        return lose(Trouble::dropped, one, header, config);
    }
    if (ranges != one.expected || ranges > kMostKernels) return lose(Trouble::unjoined, one, header, config);
    std::vector<size_t> order;
    if (ranges == 1)
        order.push_back(0);
    else if ((header.flags & kNodesJoinable) == 0 || !order_of(host, record.payload, ranges, order))
        return lose(Trouble::graph_order, one, header, config);

    std::vector<std::vector<double>> values(ranges);
    for (size_t i = 0; i < ranges; ++i) {
        one.result = host.evaluate(record.payload, order[i], config->names, values[i]);
        if (one.result != CUPTI_SUCCESS) return lose(Trouble::refused, one, header, config);
    }
    ++tally_.done.images;
    for (size_t i = 0; i < ranges; ++i)
        for (size_t m = 0; m < config->ids.size(); ++m) {
            lines_.value({of_range, header.id, ranges > 1 ? i + 1 : 0}, config->ids[m], values[i][m]);
            ++tally_.done.counters;
        }
}

}  // namespace attnscope::cupti_host
