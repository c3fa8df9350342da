// A trace is a stranger's file: no string of it may run, load, hide or break anything.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "attnscope/render.h"
#include "sample_report.h"
#include "unicode.h"

namespace attnscope {
namespace {

const std::vector<std::string>& hostile_strings() {
    static const std::vector<std::string> strings{
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "</style></title></textarea><img src=x onerror=alert(1)>",
        "]]><![CDATA[<!-- --><?php ?>",
        "\" onmouseover=\"alert(1)\" x='",
        "&lt;b&gt; &amp; &#x3c;script&#x3e;",
        "javascript:alert(1)",
        "[click](javascript:alert(1)) ![i](http://evil.example/x.png)",
        "``` \n</details>\n# heading\n- item\n| a | b |\n|---|---|",
        "<!-- attnscope:id=other --></details></summary>",
        std::string(5123, 'k'),
        "void " + std::string(2000, '<') + std::string(2000, '>'),
        "broken \xff\xfe\xc0\xaf\xe2\x80 utf-8",
        std::string("nul \0 esc \x1b[31m bell \x07", 22),
        "bidi \xE2\x80\xAE evil \xE2\x81\xA6 \xE2\x80\x8B",
        "\xEF\xBF\xBE\xEF\xBF\xBF\xF0\x9F\x9A\x80 日本語",
        "--> <svg/onload=alert(1)> {{7*7}} ${7*7} $x^2$ @everyone #1",
        "   ",
        "-",
        "1.",
        "===",
        "\\",
        "`",
        "|"};
    return strings;
}

TEST(Hostile, HtmlKeepsItsStructure) {
    const auto structure = [](const Report& report) {
        const std::string page = render_html(report);
        pugi::xml_document document;
        const auto result = document.load_buffer(page.data(), page.size());
        EXPECT_TRUE(result) << result.description() << ": "
                            << page.substr(static_cast<size_t>(result.offset), 100);
        std::map<std::string, size_t> counts;
        for (const char* name : {"script", "style", "img", "iframe", "object", "form", "table", "tr", "td",
                                 "article", "section", "figure", "h1", "h2", "a", "svg"})
            counts[name] = document.select_nodes(("//" + std::string(name)).c_str()).size();
        EXPECT_EQ(document.select_nodes("//@*[starts-with(name(),'on')]").size(), 0U);
        for (const auto& found : document.select_nodes("//@href[not(parent::a[@id='attnscope-report'])]"))
            EXPECT_EQ(found.attribute().value()[0], '#');
        return counts;
    };
    // A harmless text of the same width is laid out in the same elements.
    for (const std::string& text : hostile_strings()) {
        const std::string harmless(std::max<size_t>(reports::width_of(reports::clean(text)), 1), 'x');
        EXPECT_EQ(structure(test::hostile_report(text)), structure(test::hostile_report(harmless)))
            << text.substr(0, 60);
    }
}

TEST(Hostile, JsonParsesAndIsUtf8) {
    for (const std::string& text : hostile_strings())
        EXPECT_TRUE(nlohmann::json::accept(render_json(test::hostile_report(text))));
}

TEST(Hostile, MarkdownHasNoHtmlOfTheirs) {
    // What may stand outside code: our own folding, and nothing else that begins with "<".
    for (const std::string& text : hostile_strings()) {
        const std::string markdown = render_markdown(test::hostile_report(text));
        // Take out code spans as CommonMark finds them: a run of backticks up to the next run of the same
        // length.
        std::string outside;
        for (size_t at = 0; at < markdown.size();) {
            if (markdown[at] == '\\' && at + 1 < markdown.size()) {
                at += 2;
            } else if (markdown[at] == '`') {
                const size_t run = std::min(markdown.find_first_not_of('`', at), markdown.size()) - at;
                size_t close = at + run, length = 0;
                while (close < markdown.size() && length != run) {
                    close = std::min(markdown.find('`', close), markdown.size());
                    length = std::min(markdown.find_first_not_of('`', close), markdown.size()) - close;
                    close += length;
                }
                EXPECT_EQ(length, run) << "a code span that nobody closes: " << markdown.substr(at, 60);
                at = close;
            } else {
                outside += markdown[at++];
            }
        }
        std::string rest = outside;
        for (const char* tag : {"<details>", "</details>", "<summary>", "</summary>"})
            for (size_t at = 0; (at = rest.find(tag, at)) != std::string::npos;)
                rest.erase(at, std::strlen(tag));
        EXPECT_EQ(rest.find('<'), std::string::npos) << rest.substr(rest.find('<'), 80);
        EXPECT_EQ(rest.find("!["), std::string::npos);
        size_t opened = 0, closed = 0;
        for (size_t at = 0; (at = outside.find("<details>", at)) != std::string::npos; ++at) ++opened;
        for (size_t at = 0; (at = outside.find("</details>", at)) != std::string::npos; ++at) ++closed;
        EXPECT_EQ(opened, closed);
        EXPECT_EQ(markdown.find("\xE2\x80\xAE"), std::string::npos);
        EXPECT_EQ(markdown.find('\x1b'), std::string::npos);
    }
}

TEST(Hostile, LongNamesDoNotMakeLongTables) {
    const std::string markdown = render_markdown(test::hostile_report(std::string(5123, 'k')));
    std::istringstream lines(markdown);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("| ")) {
            EXPECT_LT(line.size(), 900U);
        }
    }
}

}  // namespace
}  // namespace attnscope
