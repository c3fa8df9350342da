#pragma once
// Foreign text in HTML that is well-formed XML too.
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace attnscope::reports {

/// Cleaned and escaped: for text and for attributes in double quotes.
std::string html(std::string_view text);

/// For our own sentences, which quote names in backticks: those become code.
std::string html_prose(const std::string& text);

/// A block of code in lines that a desk's screen holds, to be copied into a shell as it stands.
std::string html_command(const std::string& command);

/// Identifiers of one page: letters, digits and dashes, each given once.
class Ids {
  public:
    std::string make(std::string_view prefix, std::string_view name);
    /// Of the place where a long text stands; `fresh`: it is asked for the first time.
    std::string place_of(const std::string& text, bool& fresh);

  private:
    std::set<std::string> used_;
    std::map<std::string, std::string> places_;
};

}  // namespace attnscope::reports
