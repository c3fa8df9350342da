#pragma once
// A client of the Activity API as CUPTI's samples write one: a free list of buffers, a list of finished ones.
#include <cupti.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace cupti_client {

struct Finished {
    uint8_t* bytes;
    size_t size;
    size_t used;
};

struct Client {
    std::mutex mutex;
    std::vector<Finished> finished;
    size_t buffer_size = 1 << 20;
    size_t max_records = 0;
    size_t requests = 0;
    bool decline = false;
    size_t misalign = 0;

    /// Frees what was delivered.
    void clear() {
        const std::lock_guard lock(mutex);
        for (const Finished& buffer : finished) std::free(buffer.bytes - misalign);
        finished.clear();
        requests = 0;
    }

    template <class Visit>
    void each(Visit visit) {
        const std::lock_guard lock(mutex);
        for (const Finished& buffer : finished) {
            CUpti_Activity* record = nullptr;
            while (cuptiActivityGetNextRecord(buffer.bytes, buffer.used, &record) == CUPTI_SUCCESS)
                visit(record);
        }
    }

    std::map<int, size_t> count() {
        std::map<int, size_t> kinds;
        each([&](const CUpti_Activity* record) { ++kinds[record->kind]; });
        return kinds;
    }

    template <class Record>
    std::vector<Record> all(CUpti_ActivityKind kind) {
        std::vector<Record> records;
        each([&](const CUpti_Activity* record) {
            if (record->kind != kind) return;
            Record copy;
            std::memcpy(&copy, record, sizeof copy);
            records.push_back(copy);
        });
        return records;
    }
};

inline Client client;

inline void request(uint8_t** buffer, size_t* size, size_t* max_records) {
    const std::lock_guard lock(client.mutex);
    ++client.requests;
    *buffer = client.decline
                  ? nullptr
                  : static_cast<uint8_t*>(std::aligned_alloc(8, client.buffer_size + 8)) + client.misalign;
    *size = client.buffer_size;
    *max_records = client.max_records;
}

inline void complete(CUcontext, uint32_t, uint8_t* buffer, size_t size, size_t used) {
    const std::lock_guard lock(client.mutex);
    client.finished.push_back({buffer, size, used});
}

inline size_t dropped() {
    size_t lost = 0;
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &lost);
    return lost;
}

}  // namespace cupti_client
