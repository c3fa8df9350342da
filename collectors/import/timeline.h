#pragma once
// What the host was doing when it launched: operations, annotations and API calls of each thread, nested by
// time, become the operations and ranges of a Process's launches.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attnscope/run.h"

namespace attnscope::importer {

/// Texts, each once, by number.
class Texts {
  public:
    /// `fresh` is set where the text was new.
    uint32_t add(std::string_view text, bool* fresh = nullptr);
    const std::string& operator[](uint32_t at) const { return *texts_[at]; }
    size_t size() const { return texts_.size(); }
    std::vector<std::string> take() const;

  private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> index_;
    std::vector<const std::string*> texts_;
};

class HostTimeline {
  public:
    /// The same inputs are stored once: the number of a list that `key` stands for, made by `make` when it is
    /// new.
    template <typename Make>
    uint32_t inputs(std::string_view key, const Make& make) {
        bool fresh = false;
        const uint32_t at = input_keys_.add(key, &fresh);
        if (fresh) input_lists_.push_back(make());
        return at;
    }
    /// Times are nanoseconds of any clock, the same for all; `thread` tells threads apart; `inputs` is a
    /// number that inputs() gave, `external` Kineto's "External id".
    void operation(uint64_t thread, int64_t start, int64_t end, std::string_view name, uint32_t inputs,
                   std::optional<uint64_t> external);
    void annotation(uint64_t thread, int64_t start, int64_t end, std::string name);
    void call(uint64_t thread, int64_t start, uint64_t correlation);

    /// `external[i]` is what launch i says of its operation (Kineto's "External id"). Launches are sorted by
    /// correlation. Sets their operation, operation_call, range and thread, and fills `process.operations`
    /// and `process.ranges`; range times are shifted by `shift`.
    void resolve(Process& process, const std::vector<std::optional<uint64_t>>& external, int64_t shift);

  private:
    enum class Kind : uint8_t { annotation, operation, call };
    struct Item {
        int64_t start, end;
        uint64_t thread;
        uint32_t data;  ///< index into operations_, annotations_ or calls_
        Kind kind;
    };
    struct OperationCall {
        uint32_t name, inputs;
        uint32_t parent = kNone;  ///< index into operations_
        uint32_t node = kNone;    ///< index into Process::operations, once a launch needed it
        uint32_t outermost = 0;   ///< number of the outermost call, from 1
        uint64_t external;
        int64_t start, end;
        uint64_t thread;
    };
    struct Annotation {
        std::string name;
        int64_t start, end;
        uint32_t parent = kNone;  ///< index into annotations_
    };
    struct Call {
        uint64_t correlation;
        int64_t start;
        uint64_t thread;
        uint32_t operation = kNone, annotation = kNone;
    };
    void nest();
    void add_ranges(Process& process, int64_t shift, std::vector<uint32_t>& range_of) const;
    uint32_t node_of(uint32_t operation, Process& process);

    Texts names_, input_keys_;
    std::vector<std::vector<std::string>> input_lists_;
    std::vector<Item> items_;
    std::vector<OperationCall> operations_;
    std::vector<Annotation> annotations_;
    std::vector<Call> calls_;
    struct NodeKey {
        uint32_t parent, name, inputs;
        bool operator==(const NodeKey&) const = default;
    };
    struct NodeHash {
        size_t operator()(const NodeKey& k) const {
            return (k.parent * 0x9e3779b97f4a7c15ULL) ^ (k.name * 0xff51afd7ed558ccdULL) ^
                   (uint64_t{k.inputs} << 17);
        }
    };
    std::unordered_map<NodeKey, uint32_t, NodeHash> nodes_;
};

/// An autograd function of the backward pass: "MmBackward0", "autograd::engine::evaluate_function: ...".
bool is_backward(std::string_view operation);

}  // namespace attnscope::importer
