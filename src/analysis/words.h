#pragma once
// Numbers in sentences. Tables carry Values; only prose is made here.
#include <string>
#include <string_view>
#include <vector>

#include "attnscope/value.h"

namespace attnscope::words {

std::string number(double value);                         ///< "268,435,456", "12.5"
std::string bytes(double value);                          ///< "268,435,456 bytes (256 MiB)"
std::string percent(double value);                        ///< "12.5%"
std::string milliseconds(double nanoseconds);             ///< "0.147 ms"
std::string plural(double count, std::string_view noun);  ///< "1 kernel", "20 kernels", "2 copies"
/// "a, b and c"
std::string join(const std::vector<std::string>& items, std::string_view last = " and ",
                 std::string_view between = ", ");
std::string times(double ratio);            ///< "2 times", "1.4 times", "72 times"
std::string capital(std::string sentence);  ///< with a capital first letter
/// At most so many bytes of UTF-8, and "…" where there were more.
std::string shortened(const std::string& text, size_t bytes);
std::string shell_word(const std::string& word);  ///< quoted where a shell would need it
/// A number in words of its unit; "unknown (reason)" when there is none.
std::string say(const Value& value);

/// say(), and " (fixture)" where a fixture file made the number: in prose no tag says so.
std::string say_with_ground(const Value& value);

}  // namespace attnscope::words
