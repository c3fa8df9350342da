#pragma once
// Operations of LibTorch, as the extension tells of them (collectors/torch/sink.h), and the numbers by which
// a launch is found to be in one.
#include <atomic>
#include <cstdint>

#include "../torch/sink.h"
#include "json_line.h"

namespace attnscope::collector {

/// One call of an operation. 0: none.
struct OperationCall {
    uint32_t operation = 0;
    uint64_t call = 0;  ///< of the outermost operation: its launches share it
};

/// What a launch is in, as its external correlation id tells.
struct LaunchContext {
    uint32_t range = 0, process_range = 0;  ///< external_id of ranges.h
    OperationCall operation;
};

/// External correlation ids have 64 bits, which an operation, its call and two ranges do not fit in: of the
/// call the low bits travel, of the ranges a number that is looked up here.
class OperationBook {
  public:
    OperationBook();
    ~OperationBook();
    OperationBook(const OperationBook&) = delete;
    OperationBook& operator=(const OperationBook&) = delete;

    /// To be used for ids until a million later pairs have been numbered.
    uint32_t number_ranges(uint32_t range, uint32_t process_range);
    uint64_t external_id(const OperationCall& operation, uint32_t ranges);
    /// Also of ids of launches outside all operations.
    LaunchContext context_of(uint64_t external_id) const;

    static constexpr int kOperationBits = 17, kCallBits = 26, kRangesBits = 20;

  private:
    std::atomic<uint64_t>* ranges_ = nullptr;  ///< pages that are never reached are never touched
    std::atomic<uint32_t> numbered_{0};
    std::atomic<uint64_t> last_call_{0};
};

/// The context that ranges alone make.
constexpr LaunchContext ranges_of(uint64_t external_id) {
    return {static_cast<uint32_t>(external_id), static_cast<uint32_t>(external_id >> 32), {}};
}

/// The fields `op` and `op_call` of a launch.
inline void add_operation(JsonLine& line, const OperationCall& operation) {
    if (operation.operation != 0) line.number("op", operation.operation).number("op_call", operation.call);
}

class Session;
/// The functions that the extension calls. They live as long as the process.
const AttnscopeTorchSink* torch_sink(Session& session);

/// Loads the extension where the process has the LibTorch that it was built for.
class TorchExtension {
  public:
    /// Does something once: call it again until then. Any thread, one at a time. LibTorch may come after
    /// CUDA.
    void try_start(Session& session);

  private:
    bool decided_ = false;
};

}  // namespace attnscope::collector
