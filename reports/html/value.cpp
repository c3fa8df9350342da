#include "value.h"

#include <array>
#include <charconv>

#include "../table_view.h"
#include "../words.h"
#include "escape.h"

namespace attnscope::reports {
namespace {

constexpr const char* no_break = "\xC2\xA0";

std::string machine(double number) {
    std::array<char, 32> buffer;
    return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr};
}

std::string data(double number, const std::string& title, const std::string& text) {
    return "<data value=\"" + machine(number) + "\"" +
           (title.empty() ? "" : " title=\"" + html(title) + "\"") + ">" + html(text) + "</data>";
}

}  // namespace

std::string html_number(const Value& value, const Formatted& shown, const std::string& more) {
    std::string title = shown.rounded ? format_exact(*value.number, value.unit) : "";
    if (!value.formula.empty()) title += (title.empty() ? "" : " = ") + value.formula;
    if (!more.empty()) title += (title.empty() ? "" : "; ") + more;
    return data(*value.number, title, shown.with(no_break));
}

std::string html_value(const Value& value) {
    if (!is_shown(value))
        return std::string(dash) + " <span class=\"why\">" + html(absent_reason(value)) + "</span>";
    Formatted shown = format(*value.number, value.unit);
    shown.number = format_with_words(*value.number, value.unit);
    shown.unit.clear();
    const std::string text = html_number(value, shown) + "<sup>" + tag_of(value.provenance) + "</sup>";
    return is_predicted(value) ? "<i>" + text + "</i>" : text;
}

}  // namespace attnscope::reports
