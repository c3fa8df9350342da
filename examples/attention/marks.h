#pragma once
// NVTX: how the workload tells a profiler which launches belong to what (schema/README.md, "Names with a
// meaning").
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace attention {

/// A process-wide range: autograd's threads launch inside it too.
class ProcessRange {
  public:
    explicit ProcessRange(const std::string& name);
    ~ProcessRange();
    ProcessRange(const ProcessRange&) = delete;
    ProcessRange& operator=(const ProcessRange&) = delete;

  private:
    uint64_t id_;
};

/// `attnscope.KIND {json}`
void mark(const std::string& kind, const nlohmann::json& content);

}  // namespace attention
