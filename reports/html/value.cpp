#include "value.h"

#include "../table_view.h"
#include "../words.h"
#include "escape.h"

namespace attnscope::reports {
namespace {

constexpr const char* no_break = "\xC2\xA0";

}  // namespace

std::string html_number(const Value& value, const Formatted& shown, const std::string& more) {
    std::string title = shown.rounded ? format_exact(*value.number, value.unit) : "";
    if (!value.formula.empty()) title += (title.empty() ? "= " : " = ") + value.formula;
    if (!more.empty()) title += (title.empty() ? "(" : " (") + more + ")";
    const std::string text = html(shown.with(no_break));
    return title.empty() ? text : "<span title=\"" + html(title) + "\">" + text + "</span>";
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
