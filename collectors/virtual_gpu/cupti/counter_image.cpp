#include "collectors/virtual_gpu/cupti/counter_image.h"

#include <algorithm>
#include <cstring>

#include "collectors/cupti/counter_files.h"

namespace attnscope::vgpu::cupti {
namespace {

/// Four times: a damaged image is still known as ours, and never handed to the real library, which crashes on
/// some damage.
constexpr auto& magic = kVirtualImageMagic;
constexpr size_t magics = 4;

struct Header {
    char magic[magics][8];
    uint32_t crc32;  ///< of all that follows
    uint32_t names_bytes;
    uint64_t bytes;  ///< the whole image
    uint32_t metrics, max_ranges, max_nodes;
    uint32_t nodes, ranges, reserved;
};
static_assert(sizeof(Header) == 72);
constexpr size_t checked_from = offsetof(Header, names_bytes);

struct StoredNode {
    uint32_t parent;
    char name[longest_range_name + 1];
};
static_assert(sizeof(StoredNode) == 256);

/// memcpy, which wants pointers also where there is nothing to copy.
void copy_bytes(void* to, const void* from, size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
}

size_t padded(size_t bytes) {
    return (bytes + 7) / 8 * 8;
}

/// Where the parts of an image begin. The counts are 32-bit numbers: 64 bits hold every product here but the
/// number of values, which is bounded first.
struct Layout {
    size_t nodes, ranges, values, end;

    Layout(size_t names_bytes, size_t metrics, size_t max_ranges, size_t max_nodes)
        : nodes(sizeof(Header) + padded(names_bytes)),
          ranges(nodes + max_nodes * sizeof(StoredNode)),
          values(ranges + padded(max_ranges * sizeof(uint32_t))),
          end(values + max_ranges * metrics * sizeof(double)) {}
};

size_t names_bytes(const std::vector<std::string>& names) {
    size_t bytes = 0;
    for (const std::string& name : names) bytes += name.size() + 1;
    return bytes;
}

}  // namespace

size_t image_bytes(const ImageShape& shape) {
    return Layout(names_bytes(shape.metrics), shape.metrics.size(), shape.max_ranges, shape.max_nodes).end;
}

void initialise_image(uint8_t* bytes, const ImageShape& shape) {
    CounterImage image;
    image.metrics_ = shape.metrics;
    image.max_ranges_ = shape.max_ranges;
    image.max_nodes_ = shape.max_nodes;
    image.write(bytes);
}

ImageState CounterImage::read(const uint8_t* bytes, size_t size) {
    size_t found = 0;
    for (size_t i = 0; bytes && i < magics; ++i)
        found +=
            (i + 1) * sizeof magic <= size && std::memcmp(bytes + i * sizeof magic, magic, sizeof magic) == 0;
    // The real library crashes on a few bytes; its own images are never that short.
    if (!bytes || size < sizeof(Header)) return ImageState::damaged;
    if (found == 0) return ImageState::foreign;
    return found == magics && parse(bytes, size) ? ImageState::good : ImageState::damaged;
}

bool CounterImage::parse(const uint8_t* bytes, size_t size) {
    Header header;
    if (size < sizeof header) return false;
    std::memcpy(&header, bytes, sizeof header);
    if (header.bytes < sizeof header || header.bytes > size) return false;
    if (crc32(bytes + checked_from, header.bytes - checked_from) != header.crc32) return false;
    if (header.ranges > header.max_ranges || header.nodes > header.max_nodes) return false;
    if (uint64_t{header.metrics} * header.max_ranges > header.bytes) return false;
    const Layout layout(header.names_bytes, header.metrics, header.max_ranges, header.max_nodes);
    if (layout.end != header.bytes) return false;

    metrics_.clear();
    const char* names = reinterpret_cast<const char*>(bytes) + sizeof header;
    for (const char *name = names, *end = names + header.names_bytes; name != end;) {
        const char* zero = std::find(name, end, '\0');
        if (zero == end) return false;
        metrics_.emplace_back(name, zero);
        name = zero + 1;
    }
    if (metrics_.size() != header.metrics) return false;

    max_ranges_ = header.max_ranges;
    max_nodes_ = header.max_nodes;
    nodes_.clear();
    for (size_t i = 0; i < header.nodes; ++i) {
        StoredNode node;
        std::memcpy(&node, bytes + layout.nodes + i * sizeof node, sizeof node);
        if (node.parent > i) return false;  // a parent comes before its children
        nodes_.push_back({node.parent, std::string(node.name, strnlen(node.name, sizeof node.name))});
    }
    range_nodes_.resize(header.ranges);
    copy_bytes(range_nodes_.data(), bytes + layout.ranges, header.ranges * sizeof(uint32_t));
    for (const uint32_t node : range_nodes_)
        if (node >= header.nodes) return false;
    values_.resize(size_t{header.ranges} * header.metrics);
    copy_bytes(values_.data(), bytes + layout.values, values_.size() * sizeof(double));
    return true;
}

std::vector<std::string> CounterImage::path(size_t range) const {
    std::vector<std::string> names;
    for (uint32_t node = range_nodes_[range] + 1; node != 0; node = nodes_[node - 1].parent)
        names.push_back(nodes_[node - 1].name);
    std::reverse(names.begin(), names.end());
    return names;
}

double CounterImage::value(size_t range, size_t metric) const {
    return values_[range * metrics_.size() + metric];
}

bool CounterImage::add(const std::vector<std::string>& path, const std::vector<double>& values) {
    if (range_nodes_.size() == max_ranges_) return false;
    const size_t before = nodes_.size();
    uint32_t parent = 0;
    for (const std::string& name : path) {
        const auto same = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& node) {
            return node.parent == parent && node.name == name;
        });
        if (same == nodes_.end()) {
            if (nodes_.size() == max_nodes_) {
                nodes_.resize(before);
                return false;
            }
            nodes_.push_back({parent, name.substr(0, longest_range_name)});
            parent = static_cast<uint32_t>(nodes_.size());
        } else {
            parent = static_cast<uint32_t>(same - nodes_.begin()) + 1;
        }
    }
    range_nodes_.push_back(parent - 1);
    values_.insert(values_.end(), values.begin(), values.end());
    return true;
}

void CounterImage::write(uint8_t* bytes) const {
    const size_t names = names_bytes(metrics_);
    const Layout layout(names, metrics_.size(), max_ranges_, max_nodes_);
    std::memset(bytes, 0, layout.end);
    char* text = reinterpret_cast<char*>(bytes) + sizeof(Header);
    for (const std::string& name : metrics_) text = std::copy_n(name.c_str(), name.size() + 1, text);
    for (size_t i = 0; i < nodes_.size(); ++i) {
        StoredNode node{};
        node.parent = nodes_[i].parent;
        std::copy_n(nodes_[i].name.c_str(), nodes_[i].name.size(), node.name);
        std::memcpy(bytes + layout.nodes + i * sizeof node, &node, sizeof node);
    }
    copy_bytes(bytes + layout.ranges, range_nodes_.data(), range_nodes_.size() * sizeof(uint32_t));
    copy_bytes(bytes + layout.values, values_.data(), values_.size() * sizeof(double));

    Header header{};
    for (auto& copy : header.magic) std::memcpy(copy, magic, sizeof magic);
    header.names_bytes = static_cast<uint32_t>(names);
    header.bytes = layout.end;
    header.metrics = static_cast<uint32_t>(metrics_.size());
    header.max_ranges = static_cast<uint32_t>(max_ranges_);
    header.max_nodes = static_cast<uint32_t>(max_nodes_);
    header.nodes = static_cast<uint32_t>(nodes_.size());
    header.ranges = static_cast<uint32_t>(range_nodes_.size());
    std::memcpy(bytes, &header, sizeof header);
    header.crc32 = crc32(bytes + checked_from, layout.end - checked_from);
    std::memcpy(bytes + offsetof(Header, crc32), &header.crc32, sizeof header.crc32);
}

void damage_image(uint8_t* bytes) {
    bytes[offsetof(Header, crc32)] ^= 0xFF;
}

std::string joined(const std::vector<std::string>& path, const std::string& delimiter) {
    std::string text;
    for (const std::string& name : path) text += (text.empty() ? "" : delimiter) + name;
    return text;
}

}  // namespace attnscope::vgpu::cupti
