#pragma once
#include <c10/util/Exception.h>

#include <string>
#include <vector>

namespace attnscope::libtorch {

/// Collects the calling thread's warnings while it lives: LibTorch's reasons come as warnings.
class WarningCollector : public c10::WarningHandler {
  public:
    WarningCollector() : before_(c10::WarningUtils::get_warning_handler()) {
        c10::WarningUtils::set_warning_handler(this);
    }
    ~WarningCollector() override { c10::WarningUtils::set_warning_handler(before_); }
    WarningCollector(const WarningCollector&) = delete;
    WarningCollector& operator=(const WarningCollector&) = delete;

    void process(const c10::Warning& warning) override;
    std::string text() const;  ///< all sentences, each once

  private:
    std::vector<std::string> sentences_;
    c10::WarningHandler* before_;
};

}  // namespace attnscope::libtorch
