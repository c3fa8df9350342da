#pragma once
// The few shapes that pictures are made of. Sizes are of a picture 360 wide, which is about a phone's screen:
// nothing is smaller there than on a desk.
#include <string>
#include <string_view>
#include <vector>

#include "axis.h"

namespace attnscope::reports::svg {

/// How wide a text is, in a wide font, in 12 and in 11 px.
double label_width(std::string_view clean_text);
double number_width(std::string_view clean_text);
/// Cut to what fits.
std::string fit_label(const std::string& raw, double width);
std::string fit_number(const std::string& raw, double width);
/// In lines that fit; a heading is bold, and two lines at most.
std::vector<std::string> wrap_number(const std::string& raw, double width);
std::vector<std::string> wrap_heading(const std::string& raw, double width);

enum class Anchor { start, middle, end };
/// `escaped` goes in as it is.
std::string text(double x, double y, const std::string& escaped, const char* css = "",
                 Anchor anchor = Anchor::start);
std::string line(double x1, double y1, double x2, double y2, const char* css);
std::string bar(double x, double y, double width, double height, const std::string& css);
/// The same, filled with a pattern of the page.
std::string hatch(double x, double y, double width, double height, const std::string& pattern);
/// A line upwards from each tick of a lying axis, its number below.
std::string grid_across(const Axis& axis, double top, double bottom);

}  // namespace attnscope::reports::svg
