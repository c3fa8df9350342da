#pragma once
// The counter data image of the stand-in's Range Profiler: everything that the host side needs lies in it, so
// that it can be evaluated in another process. Never more than what the client allocated; damage is seen as
// damage.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attnscope::vgpu::cupti {

constexpr size_t longest_range_name = 251;

/// What GetCounterDataSize was asked for.
struct ImageShape {
    std::vector<std::string> metrics;
    uint32_t max_ranges = 0, max_nodes = 0;
};

size_t image_bytes(const ImageShape& shape);
/// Also the reset of one that has been used. `bytes` hold image_bytes(shape).
void initialise_image(uint8_t* bytes, const ImageShape& shape);

enum class ImageState { good, damaged, foreign };

/// So that it is known as ours, and as damaged.
void damage_image(uint8_t* bytes);

/// An image of which a copy is read; the client's memory may lie at any address, unaligned.
class CounterImage {
  public:
    /// foreign: none of ours, perhaps the real library's.
    ImageState read(const uint8_t* bytes, size_t size);

    const std::vector<std::string>& metrics() const { return metrics_; }
    size_t max_ranges() const { return max_ranges_; }
    size_t ranges() const { return range_nodes_.size(); }
    /// From the outermost name to the range's own.
    std::vector<std::string> path(size_t range) const;
    /// In the order of metrics().
    double value(size_t range, size_t metric) const;

    /// False where there is no room for the range or its nodes. `values` in the order of metrics().
    bool add(const std::vector<std::string>& path, const std::vector<double>& values);
    /// Back to where it was read from.
    void write(uint8_t* bytes) const;

  private:
    friend void initialise_image(uint8_t*, const ImageShape&);
    struct Node {
        uint32_t parent;  ///< 0: none; else index + 1
        std::string name;
    };
    bool parse(const uint8_t* bytes, size_t size);

    std::vector<std::string> metrics_;
    size_t max_ranges_ = 0, max_nodes_ = 0;
    std::vector<Node> nodes_;
    std::vector<uint32_t> range_nodes_;
    std::vector<double> values_;
};

/// "outer/inner"
std::string joined(const std::vector<std::string>& path, const std::string& delimiter);

}  // namespace attnscope::vgpu::cupti
