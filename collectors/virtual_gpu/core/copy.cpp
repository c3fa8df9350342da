#include "collectors/virtual_gpu/core/copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "collectors/virtual_gpu/core/api.h"
#include "collectors/virtual_gpu/core/context.h"
#include "collectors/virtual_gpu/core/hooks.h"
#include "collectors/virtual_gpu/core/host_worker.h"
#include "collectors/virtual_gpu/core/issue.h"
#include "collectors/virtual_gpu/core/observer.h"
#include "collectors/virtual_gpu/core/stream.h"
#include "collectors/virtual_gpu/core/uncomputed.h"

namespace attnscope::vgpu {

namespace {

// More separate rows than this are not tracked one by one: their content becomes unknown.
constexpr size_t tracked_rows = 16384;

bool on_device(uintptr_t address) {
    return classify(address).kind == MemoryKind::device;
}

// Calls visit(allocation, offset, size, done) for each piece of [address, address + size): mappings may
// follow one another.
template <class Visit>
void for_each_piece(uintptr_t address, size_t size, Visit&& visit) {
    for (size_t done = 0; done < size;) {
        Allocation* a = live_allocation(address + done);
        if (a == nullptr) return;
        const size_t offset = address + done - a->base;
        const size_t piece = std::min(size - done, a->bytes - offset);
        visit(*a, offset, piece, done);
        done += piece;
    }
}

bool device_range(uintptr_t address, size_t size) {
    size_t covered = 0;
    for_each_piece(address, size, [&](Allocation& a, size_t, size_t piece, size_t) {
        if (a.kind == MemoryKind::device ? a.read_write : true) covered += piece;
    });
    return covered == size;
}

CUresult check_side(uintptr_t address, size_t size, Side side) {
    if (size == 0) return CUDA_SUCCESS;
    if (side == Side::host && !is_reserved_address(address))
        return address != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (is_reserved_address(address))
        return device_range(address, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (side == Side::any) return address != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    return registered_range(address).has_value() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct Uncomputed {
    size_t bytes = 0;
    bool kept_too_little = false;
};

void forget_row(uintptr_t destination, size_t size) {
    for_each_piece(destination, size, [](Allocation& a, size_t offset, size_t piece, size_t) {
        std::lock_guard lock(a.mutex);
        a.content.forget(offset, offset + piece);
    });
}

void copy_row(uintptr_t destination, uintptr_t source, size_t size, bool to_device, bool from_device,
              Uncomputed& result) {
    if (to_device && from_device) {
        std::vector<std::pair<size_t, std::vector<KnownPiece>>> known;
        for_each_piece(source, size, [&](Allocation& a, size_t offset, size_t piece, size_t done) {
            if (a.content.empty()) return;
            std::lock_guard lock(a.mutex);
            known.emplace_back(done, a.content.cut(offset, offset + piece));
        });
        for_each_piece(destination, size, [&](Allocation& a, size_t offset, size_t piece, size_t done) {
            if (known.empty() && a.content.empty()) return;
            std::lock_guard lock(a.mutex);
            a.content.forget(offset, offset + piece);
            for (const auto& [start, pieces] : known) {
                for (const KnownPiece& p : pieces) {
                    // A piece of the source that lies over the border of two destination mappings is rare: it
                    // is forgotten.
                    const size_t at = start + p.offset, end = start + p.known.end;
                    if (at < done || end > done + piece) continue;
                    KnownPiece moved = p;
                    moved.offset = 0;
                    moved.known.end -= p.offset;
                    moved.known.phase -= p.offset;
                    a.content.paste(offset + at - done, {moved});
                }
            }
        });
    } else if (to_device) {
        for_each_piece(destination, size, [&](Allocation& a, size_t offset, size_t piece, size_t done) {
            std::lock_guard lock(a.mutex);
            if (!a.content.write(offset, offset + piece, reinterpret_cast<const void*>(source + done)))
                result.kept_too_little = true;
        });
    } else if (from_device) {
        fill(reinterpret_cast<void*>(destination), size);
        for_each_piece(source, size, [&](Allocation& a, size_t offset, size_t piece, size_t done) {
            std::lock_guard lock(a.mutex);
            result.bytes +=
                a.content.read(offset, offset + piece, reinterpret_cast<std::byte*>(destination + done));
        });
    } else {
        std::memmove(reinterpret_cast<void*>(destination), reinterpret_cast<const void*>(source), size);
    }
}

void move_content(CopyRequest copy, Uncomputed& result) {
    const bool to_device = on_device(copy.destination), from_device = on_device(copy.source);
    // Rows without gaps are one row.
    if (copy.height > 1 && copy.destination_pitch == copy.width && copy.source_pitch == copy.width &&
        (copy.depth == 1 || (copy.destination_slice == copy.width * copy.height &&
                             copy.source_slice == copy.width * copy.height))) {
        copy.width *= copy.height * copy.depth;
        copy.height = copy.depth = 1;
    }
    const bool too_many = to_device && copy.height * copy.depth > tracked_rows;
    if (too_many) result.kept_too_little = true;
    for (size_t z = 0; z < copy.depth; z++) {
        for (size_t y = 0; y < copy.height; y++) {
            const uintptr_t to = copy.destination + z * copy.destination_slice + y * copy.destination_pitch;
            const uintptr_t from = copy.source + z * copy.source_slice + y * copy.source_pitch;
            if (too_many) {
                forget_row(to, copy.width);
            } else {
                copy_row(to, from, copy.width, to_device, from_device, result);
            }
        }
    }
    // Managed memory that a kernel had in its hands: what lies there is not what the kernel would have left.
    const AddressKind from = classify(copy.source);
    if (!to_device && from.allocation != nullptr && from.kind == MemoryKind::managed &&
        from.allocation->device_wrote)
        result.bytes += copy.bytes();
}

void do_copy(const CopyRequest& copy) {
    Uncomputed result;
    move_content(copy, result);
    if (result.kept_too_little)
        report("warning", "content-not-kept",
               "the program wrote more bytes to device memory than are kept (ATTNSCOPE_VGPU_KEPT_BYTES); "
               "reads of the rest "
               "count as uncomputed",
               "raise ATTNSCOPE_VGPU_KEPT_BYTES if the program reads back what it wrote");
    if (result.bytes != 0) report_uncomputed_read(result.bytes, "memcpy", filler().name.c_str());
}

uint8_t copy_kind(const AddressKind& to, const AddressKind& from) {
    const bool to_device = to.kind == MemoryKind::device, from_device = from.kind == MemoryKind::device;
    if (to_device && from_device) return to.device == from.device ? 8 : 10;  // DTOD, PTOP
    if (to_device) return 1;                                                 // HTOD
    return from_device ? 2 : 9;                                              // DTOH, HTOH
}

}  // namespace

CUresult check_copy(const CopyRequest& copy, Side destination, Side source) {
    if (copy.bytes() == 0) return CUDA_SUCCESS;
    for (size_t z : {size_t{0}, copy.depth - 1}) {
        for (size_t y : {size_t{0}, copy.height - 1}) {
            const uintptr_t to = copy.destination + z * copy.destination_slice + y * copy.destination_pitch;
            const uintptr_t from = copy.source + z * copy.source_slice + y * copy.source_pitch;
            if (CUresult error = check_side(to, copy.width, destination); error != CUDA_SUCCESS) return error;
            if (CUresult error = check_side(from, copy.width, source); error != CUDA_SUCCESS) return error;
        }
    }
    return CUDA_SUCCESS;
}

void perform_copy(const CopyRequest& copy, const Issue& issue) {
    if (copy.bytes() == 0) return;
    const AddressKind to = classify(copy.destination), from = classify(copy.source);
    if (const Hooks* listener = hooks(); listener != nullptr && listener->copy != nullptr) {
        const int own = issue.context->device->ordinal;
        CopyEvent event{};
        event.correlation = issue.correlation;
        event.device = own;
        event.context_id = issue.context->id;
        event.stream_id = issue.stream->id;
        event.bytes = copy.bytes();
        event.copy_kind = copy_kind(to, from);
        event.source_kind = static_cast<uint8_t>(from.kind);
        event.destination_kind = static_cast<uint8_t>(to.kind);
        event.asynchronous = copy.asynchronous;
        event.source_device = from.device != nullptr ? from.device->ordinal : own;
        event.destination_device = to.device != nullptr ? to.device->ordinal : own;
        event.graph_id = issue.graph_id;
        event.graph_node_id = issue.graph_node_id;
        listener->copy(event);
    }
    const uint64_t ticket = issue.stream->host_ticket.load(std::memory_order_relaxed);
    if (ticket == 0 || host_ticket_done(ticket)) {
        do_copy(copy);
    } else if (copy.asynchronous) {
        // A host function is before it in the stream and may still write what is copied.
        issue.stream->host_ticket = run_on_host_worker([copy] { do_copy(copy); });
    } else {
        wait_for_host_ticket(ticket);
        do_copy(copy);
    }
}

CUresult check_set(const SetRequest& set) {
    if (set.destination % set.value_bytes != 0 || (set.height > 1 && set.pitch % set.value_bytes != 0))
        return CUDA_ERROR_INVALID_VALUE;
    if (set.bytes() == 0) return CUDA_SUCCESS;
    const size_t row = set.width * set.value_bytes;
    if (set.height > 1 && set.pitch < row) return CUDA_ERROR_INVALID_VALUE;
    for (size_t y : {size_t{0}, set.height - 1})
        if (CUresult error = check_side(set.destination + y * set.pitch, row, Side::device);
            error != CUDA_SUCCESS)
            return error;
    return CUDA_SUCCESS;
}

namespace {
void do_set(SetRequest set) {
    size_t row = set.width * set.value_bytes;
    if (set.height > 1 && set.pitch == row) {
        row *= set.height;
        set.height = 1;
    }
    const bool device = on_device(set.destination);
    for (size_t y = 0; y < set.height; y++) {
        const uintptr_t start = set.destination + y * set.pitch;
        if (!device) {
            auto* to = reinterpret_cast<unsigned char*>(start);
            for (size_t i = 0; i < row; i++)
                to[i] = static_cast<unsigned char>(set.value >> (8 * (i % set.value_bytes)));
        } else if (set.height > tracked_rows) {
            forget_row(start, row);
        } else {
            for_each_piece(start, row, [&](Allocation& a, size_t offset, size_t piece, size_t) {
                std::lock_guard lock(a.mutex);
                a.content.set(offset, offset + piece, set.value, set.value_bytes);
            });
        }
    }
}
}  // namespace

void perform_set(const SetRequest& set, const Issue& issue) {
    if (set.bytes() == 0) return;
    if (const Hooks* listener = hooks(); listener != nullptr && listener->set != nullptr) {
        MemsetEvent event{};
        event.correlation = issue.correlation;
        event.device = issue.context->device->ordinal;
        event.context_id = issue.context->id;
        event.stream_id = issue.stream->id;
        event.bytes = set.bytes();
        event.value = set.value;
        event.memory_kind = static_cast<uint8_t>(classify(set.destination).kind);
        event.asynchronous = set.asynchronous;
        event.graph_id = issue.graph_id;
        event.graph_node_id = issue.graph_node_id;
        listener->set(event);
    }
    const uint64_t ticket = issue.stream->host_ticket.load(std::memory_order_relaxed);
    if (ticket == 0 || host_ticket_done(ticket)) {
        do_set(set);
    } else {
        issue.stream->host_ticket = run_on_host_worker([set] { do_set(set); });
    }
}

void write_device(uintptr_t destination, const void* bytes, size_t size) {
    Uncomputed result;
    copy_row(destination, reinterpret_cast<uintptr_t>(bytes), size, true, false, result);
}
void clear_device(uintptr_t destination, size_t size) {
    do_set({destination, 0, 1, size, 1, 0, false});
}

}  // namespace attnscope::vgpu
