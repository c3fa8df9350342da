#pragma once
// Activity buffers as CUPTI 13 handles them: each thread fills its own (attribute PER_THREAD_ACTIVITY_BUFFER,
// 1 by default); the client is asked for one on the launching thread at the moment a record is made; full
// ones are handed over by a worker, all others by the thread that flushes. A slot outlives its thread, so
// that nothing is lost when a thread ends. A client that registers callbacks while another's are in use takes
// over without a word, as in CUPTI 13.0; buffers that came from the earlier client go back to the earlier
// client.
#include <cupti.h>

#include <cstddef>
#include <cstring>

namespace attnscope::vgpu::cupti {

struct Slot;

/// Copies one record (a multiple of 8 bytes) into this thread's buffer. Counts it as dropped where the client
/// gives no room.
void append_bytes(const void* record, size_t size);

template <class Record>
void append(const Record& record) {
    static_assert(sizeof(Record) % ACTIVITY_RECORD_ALIGNMENT == 0);
    append_bytes(&record, sizeof(Record));
}

void set_buffer_callbacks(CUpti_BuffersCallbackRequestFunc request,
                          CUpti_BuffersCallbackCompleteFunc complete);
bool have_buffer_callbacks();
void set_per_thread_buffers(bool per_thread);

/// Hands every buffer that holds a record to the client; returns when the client has seen them all.
void flush_all();
/// Forgets the client and what it did not fetch (cuptiFinalize).
void forget_client();

/// Records lost since the last call.
size_t take_dropped();

/// The thread ends; what it recorded waits for the next flush.
void release_slot(Slot* slot);

}  // namespace attnscope::vgpu::cupti
