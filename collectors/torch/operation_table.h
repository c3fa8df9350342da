#pragma once
// The operations that were seen, each once: a parent, a name and the inputs. Looked up on every operation of
// the program without a lock; a new one is told to the sink before anybody can use its number.
#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "signature.h"
#include "sink.h"

namespace attnscope::libtorch {

/// Has no destructor that does anything: it is asked until the process is gone.
class OperationTable {
  public:
    static constexpr uint32_t kWithInputs = 65536;  ///< operations that are told apart by their inputs
    static constexpr uint32_t kByName = 32768;      ///< further ones, by parent and name; then all are one
    static constexpr uint32_t kVariants =
        16;  ///< of one operation's numbers, tensors alike; then "int", "float"

    struct Call {
        const at::RecordFunction& function;
        uint64_t name;  ///< name_hash
        uint32_t parent, forward;
        uint64_t settings;  ///< of LibTorch, where the operation depends on them; else 0
        bool backward;
    };
    struct Found {
        uint32_t id;
        bool fresh;  ///< this call is the first
    };
    Found find(const AttnscopeTorchSink& sink, const Call& call);

  private:
    struct Slot {
        std::atomic<uint64_t> hash{0};  ///< 0: free
        uint32_t id = 0;
    };
    static constexpr uint32_t kSlots = 1u << 18;

    uint32_t look_up(uint64_t hash) const;
    void insert(uint64_t hash, uint32_t id);
    Found add(const AttnscopeTorchSink& sink, const Call& call, const InputHash& inputs, uint64_t by_name);
    uint32_t tell(const AttnscopeTorchSink& sink, const Call& call, const char* name,
                  const std::vector<std::string>& inputs);
    void tell_full(const AttnscopeTorchSink& sink);

    Slot slots_[kSlots];  ///< of a static object's zeroed memory only the pages in use exist
    std::mutex mutex_;
    uint32_t last_ = 0, other_ = 0;
    bool full_told_ = false;
    std::unordered_map<uint64_t, uint32_t>* variants_ = nullptr;  ///< by the hash without numbers
};

}  // namespace attnscope::libtorch
