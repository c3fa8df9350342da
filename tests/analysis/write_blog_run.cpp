// write_blog_run FOLDER [virtual|real] [counters]: the fixture as a run on disk, to look at its report.
#include <cstdio>

#include "blog_run.h"

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: write_blog_run FOLDER [virtual|real] [counters]\n");
        return 2;
    }
    attnscope::test::BlogOptions options;
    if (argc > 2) options.ground = argv[2];
    options.times = options.ground != "virtual";
    options.iterations = 5;
    if (argc > 3)
        attnscope::test::write_counted_blog_run(argv[1], options);
    else
        attnscope::test::write_blog_run(argv[1], options);
    return 0;
}
