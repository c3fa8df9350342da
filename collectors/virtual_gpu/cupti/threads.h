#pragma once
// What the stand-in keeps for each thread. Reached through a plain pointer, so that it also works in the
// destructors of other thread_local objects, which may still launch work.
#include <cupti.h>

#include <array>
#include <cstdint>
#include <vector>

namespace attnscope::vgpu::cupti {

struct Slot;

struct Thread {
    Slot* slot = nullptr;             ///< where this thread's records go (buffers.h)
    bool in_buffer_callback = false;  ///< a client's request or completion callback is running
    bool in_object_callback = false;  ///< a client's resource or synchronise callback is running
    int silent = 0;  ///< > 0: the stand-in itself is calling the driver, which must not be seen
    uint32_t external_recorded = 0;  ///< the correlation id whose EXTERNAL_CORRELATION records are written
    uint64_t call_start_ns = 0;      ///< of the API call in progress; 0 when nobody asked for it
    uint64_t grids = 0;              ///< kernels recorded by this thread
    std::array<uint32_t, CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE> ids{};  ///< by CUpti_ActivityThreadIdType
    uint32_t number = 0;                                             ///< never reused
    std::array<std::vector<uint64_t>, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE> external;
};

Thread& this_thread();

/// The stand-in's own calls into the driver raise no record and no callback.
class Silence {
  public:
    Silence() { ++this_thread().silent; }
    ~Silence() { --this_thread().silent; }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;
};

/// Sets a flag for the length of a client's callback.
class Inside {
  public:
    explicit Inside(bool& flag) : flag_(flag), before_(flag) { flag_ = true; }
    ~Inside() { flag_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

  private:
    bool& flag_;
    bool before_;
};

uint32_t process_id();
/// As records show it.
uint32_t id_of(const Thread& thread);
/// In a child that was forked while a client was registered: CUDA's contexts and CUPTI's worker did not
/// survive.
bool is_forked_child();

CUpti_ActivityThreadIdType thread_id_type();
void set_thread_id_type(CUpti_ActivityThreadIdType type);

/// CUPTI's clock: the client's timestamp callback, else CLOCK_REALTIME. In ns.
uint64_t now_ns();
void set_clock(CUpti_TimestampCallbackFunc clock);

}  // namespace attnscope::vgpu::cupti
