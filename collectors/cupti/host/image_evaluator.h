#pragma once
// One counter data image to counter records, joined to its launch or range only where nothing can slip.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chip_host.h"
#include "config_file.h"
#include "data_file.h"
#include "tally.h"

namespace attnscope::cupti_host {

class ImageEvaluator {
  public:
    /// `folder` holds the config files.
    ImageEvaluator(const HostApi& api, std::filesystem::path folder, Tally& tally, LineWriter& lines)
        : api_(api), folder_(std::move(folder)), tally_(tally), lines_(lines) {}

    void take_config(const DataRecord& record);
    void take_image(const DataRecord& record);

  private:
    struct Config {
        ConfigFile file;
        std::vector<uint64_t> ids;       ///< metric ids in the output, in the order of file.metrics
        std::vector<const char*> names;  ///< of file.metrics
        ChipHost* host = nullptr;        ///< nullptr: this CUPTI does not know the chip
    };

    std::unique_ptr<Config> load(const std::string& key);
    ChipHost* host_of(const std::string& key);
    uint64_t metric_id(const std::string& name, const std::string& chip);
    /// The image gives no value: counts it, and says so for each metric of what it was of.
    void lose(Trouble why, const Case& one, const DataHeader& header, const Config* config);
    bool order_of(const ChipHost& host, const std::string& image, size_t ranges, std::vector<size_t>& order);

    const HostApi& api_;
    std::filesystem::path folder_;
    Tally& tally_;
    LineWriter& lines_;
    std::map<std::string, std::unique_ptr<Config>> configs_;           ///< by key; null: missing or damaged
    std::map<int32_t, const Config*> current_;                         ///< by device
    std::map<std::string, std::unique_ptr<ChipHost>> hosts_;           ///< by chip
    std::map<std::pair<std::string, std::string>, uint64_t> metrics_;  ///< (chip, name) -> id
};

}  // namespace attnscope::cupti_host
