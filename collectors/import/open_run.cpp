#include <system_error>

#include "attnscope/import.h"

namespace attnscope {

Run open_run(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return read_run(path);
    Run run = import_files({path});
    run.folder = path;
    return run;
}

}  // namespace attnscope
