// Writes the sample reports into a folder, to be looked at.
#include <fstream>
#include <iostream>

#include "attnscope/render.h"
#include "sample_report.h"

int main(int argc, char** argv) {
    using namespace attnscope;
    const std::string folder = argc > 1 ? argv[1] : ".";
    const auto write = [&](const std::string& name, const Report& report) {
        std::ofstream(folder + "/" + name + ".html") << render_html(report);
        std::ofstream(folder + "/" + name + ".md") << render_markdown(report);
        std::ofstream(folder + "/" + name + ".json") << render_json(report);
        std::ofstream(folder + "/" + name + ".txt") << render_text(report);
    };
    write("sample", test::sample_report());
    write("measured", test::measured_report());
    write("large", test::large_report());
    write("empty", Report{});
    write("missing", test::missing_report());
    write("hostile", test::hostile_report(
                         "<script>alert(1)</script>]]>\"'|`**[x](javascript:1)\n# h\x01\xff\xe2\x80\xae"));
    std::cout << render_text(test::sample_report(), {80, true, false});
}
