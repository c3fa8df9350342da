#include "collectors/virtual_gpu/core/content.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace attnscope::vgpu {

namespace {

std::atomic<size_t> kept{0};

size_t kept_limit() {
    static const size_t limit = [] {
        const char* text = std::getenv("ATTNSCOPE_VGPU_KEPT_BYTES");
        char* end = nullptr;
        const unsigned long long value = text != nullptr ? std::strtoull(text, &end, 10) : 0;
        return text != nullptr && end != text ? static_cast<size_t>(value) : size_t{1} << 30;
    }();
    return limit;
}

std::shared_ptr<const std::byte[]> keep(const void* bytes, size_t size) {
    size_t before = kept.load(std::memory_order_relaxed);
    do {
        if (size > kept_limit() || before > kept_limit() - size) return nullptr;
    } while (!kept.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
    auto* copy = new std::byte[size];
    std::memcpy(copy, bytes, size);
    return std::shared_ptr<const std::byte[]>(copy, [size](const std::byte* p) {
        delete[] p;
        kept.fetch_sub(size, std::memory_order_relaxed);
    });
}

void fetch(const Known& known, size_t from, size_t to, std::byte* out) {
    if (known.bytes != nullptr) {
        std::memcpy(out, known.bytes.get() + (from - known.phase), to - from);
        return;
    }
    if (known.value_bytes == 1) {
        std::memset(out, static_cast<int>(known.value & 0xff), to - from);
        return;
    }
    for (size_t at = from; at < to; at++)
        out[at - from] =
            static_cast<std::byte>(known.value >> (8 * ((at - known.phase) % known.value_bytes)));
}

}  // namespace

size_t kept_bytes() {
    return kept.load(std::memory_order_relaxed);
}

void Content::forget(size_t from, size_t to) {
    if (ranges_.empty() || from >= to) return;
    auto range = ranges_.upper_bound(from);
    if (range != ranges_.begin()) --range;
    while (range != ranges_.end() && range->first < to) {
        Known known = range->second;
        const size_t start = range->first;
        if (known.end <= from) {
            ++range;
            continue;
        }
        range = ranges_.erase(range);
        if (known.end > to) range = ranges_.emplace(to, known).first;
        if (start < from) {
            known.end = from;
            ranges_.emplace(start, std::move(known));
        }
    }
    count();
}

void Content::clear() {
    ranges_.clear();
    count();
}

void Content::insert(size_t from, Known known) {
    forget(from, known.end);
    ranges_.emplace(from, std::move(known));
    count();
}

void Content::set(size_t from, size_t to, uint32_t value, uint8_t value_bytes) {
    if (from >= to) return;
    insert(from, Known{to, value, value_bytes, from, nullptr});
}

bool Content::write(size_t from, size_t to, const void* bytes) {
    if (from >= to) return true;
    forget(from, to);
    auto copy = keep(bytes, to - from);
    if (copy == nullptr) return false;
    insert(from, Known{to, 0, 1, from, std::move(copy)});
    return true;
}

void Content::forget_reached(size_t from, size_t end) {
    auto next = ranges_.upper_bound(from);
    size_t to = next != ranges_.end() ? next->first : end;
    if (next != ranges_.begin()) {
        const auto before = std::prev(next);
        if (before->second.end > from) to = before->second.end;
    }
    forget(from, to);
}

size_t Content::read(size_t from, size_t to, std::byte* out) const {
    size_t unknown = to - from;
    auto range = ranges_.upper_bound(from);
    if (range != ranges_.begin()) --range;
    for (; range != ranges_.end() && range->first < to; ++range) {
        const size_t start = std::max(range->first, from), end = std::min(range->second.end, to);
        if (start >= end) continue;
        fetch(range->second, start, end, out + (start - from));
        unknown -= end - start;
    }
    return unknown;
}

std::vector<KnownPiece> Content::cut(size_t from, size_t to) const {
    std::vector<KnownPiece> pieces;
    auto range = ranges_.upper_bound(from);
    if (range != ranges_.begin()) --range;
    for (; range != ranges_.end() && range->first < to; ++range) {
        const size_t start = std::max(range->first, from), end = std::min(range->second.end, to);
        if (start >= end) continue;
        Known known = range->second;
        known.end = end - from;
        known.phase -= from;  // may wrap below zero: only differences are used
        pieces.push_back({start - from, std::move(known)});
    }
    return pieces;
}

void Content::paste(size_t at, const std::vector<KnownPiece>& pieces) {
    for (const KnownPiece& piece : pieces) {
        Known known = piece.known;
        known.end += at;
        known.phase += at;
        insert(piece.offset + at, std::move(known));
    }
}

}  // namespace attnscope::vgpu
