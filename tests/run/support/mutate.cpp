#include "mutate.h"

#include <cstdlib>
#include <vector>

namespace attnscope::test {

uint64_t from_environment(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::string mutate(std::string text, std::mt19937_64& random) {
    static const std::vector<std::string> tokens = {"null",
                                                    "-1",
                                                    "0",
                                                    "18446744073709551615",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "1e999",
                                                    "-0.0",
                                                    "\"\"",
                                                    "[]",
                                                    "{}",
                                                    "true",
                                                    "\"id\":1,",
                                                    "\"parent\":1,",
                                                    "\"correlation\":0,",
                                                    "\xff",
                                                    "\xed\xa0\x80",
                                                    "\\u0000",
                                                    "\"",
                                                    "\\",
                                                    "\n",
                                                    "}\n{",
                                                    "\"type\":\"kernel\",",
                                                    "4294967296",
                                                    std::string("\0", 1)};
    for (uint64_t edits = 1 + random() % 8; edits > 0 && !text.empty(); --edits) {
        const size_t at = random() % text.size();
        switch (random() % 6) {
            case 0:
                text[at] = static_cast<char>(random());
                break;
            case 1:
                text.erase(at, random() % 40);
                break;
            case 2:
                text.insert(at, tokens[random() % tokens.size()]);
                break;
            case 3:
                text.insert(at, text.substr(random() % text.size(), random() % 200));
                break;
            case 4:
                text.resize(at);
                break;
            case 5: {  // a value for another
                const size_t colon = text.find(':', at);
                if (colon == std::string::npos) break;
                const size_t end = text.find_first_of(",}", colon);
                if (end != std::string::npos)
                    text.replace(colon + 1, end - colon - 1, tokens[random() % tokens.size()]);
                break;
            }
        }
    }
    return text;
}

}  // namespace attnscope::test
