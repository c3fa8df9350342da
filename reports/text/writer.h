#pragma once
// Lines for a terminal: never wider than asked.
#include <string>
#include <string_view>

#include "attnscope/render.h"

namespace attnscope::reports {

enum class Style { plain, bold, dim, good, warning, problem, heading };

/// Filled up with spaces to as many columns, where it is not wider.
std::string aligned(const std::string& text, size_t columns, bool right);

class TextWriter {
  public:
    /// `hide_virtual`: where every number is virtual the banner says so, not each of them.
    TextWriter(TextOptions options, bool hide_virtual);

    size_t width() const { return width_; }
    std::string tag(std::string tag) const;  ///< in superscript
    std::string styled(std::string_view text, Style style) const;

    void blank();
    void heading(std::string_view title);
    /// Wrapped; the first line after `first`, the others indented by as much.
    void paragraph(std::string_view first, std::string_view text, Style style = Style::plain);
    /// What can be typed: wrapped as a shell continues a line, so that it can be copied as it stands.
    void command(std::string_view first, std::string_view text, Style style = Style::plain);
    /// As it is: the caller has kept the width.
    void line(std::string_view text);
    void rule(size_t columns);  ///< a line across, below a table's head

    std::string take() { return std::move(out_); }

  private:
    size_t width_;
    bool color_, hide_virtual_;
    std::string out_;
};

}  // namespace attnscope::reports
