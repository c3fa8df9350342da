#include "program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "attnscope/binary.h"
#include "attnscope/error.h"
#include "spawn.h"

namespace attnscope::launch {
namespace {

bool is_program(const std::string& path, bool& exists) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0) return false;
    exists = true;
    return S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// The interpreter of a script's first line, "" when it has none. "#!/usr/bin/env python3" is python3.
std::string interpreter_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    char start[2] = {};
    if (!file.read(start, 2) || start[0] != '#' || start[1] != '!' || !std::getline(file, line)) return {};
    std::vector<std::string> words;
    for (size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != std::string::npos;) {
        const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
        words.push_back(line.substr(at, end - at));
        at = end;
    }
    if (words.empty()) return {};
    const std::string name = words[0].substr(words[0].find_last_of('/') + 1);
    if (name != "env") return words[0];
    for (size_t i = 1; i < words.size(); ++i)
        if (words[i][0] != '-' && words[i].find('=') == std::string::npos) return words[i];
    return {};
}

bool is_python(const std::string& path) {
    return path.substr(path.find_last_of('/') + 1).compare(0, 6, "python") == 0;
}

const std::string* runtime_of_another_major(const std::vector<std::string>& libraries) {
    for (const std::string& library : libraries)
        if (library.compare(0, 13, "libcudart.so.") == 0 && library != "libcudart.so.13") return &library;
    return nullptr;
}

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(sentence, Exit::not_started);
}

constexpr const char* kServesCuda13 =
    "the virtual GPU serves CUDA 13 alone; use a PyTorch or program built for CUDA 13, or run it on a real "
    "GPU with --device real";

/// The torch that this Python would import, without importing it.
void check_python(const std::string& python) {
    const std::string code =
        "import importlib.util as u\ns=u.find_spec('torch')\nprint(s.submodule_search_locations[0] if s and "
        "s.submodule_search_locations else '')";
    const std::string answer = output_of({python, "-c", code}, 20000);
    const std::string folder = answer.substr(0, answer.find('\n'));
    if (folder.empty() || folder[0] != '/') return;  // no torch: then it is not in the way
    for (const char* file : {"/lib/libtorch_cuda.so", "/lib/libc10_cuda.so"}) {
        if (access((folder + file).c_str(), R_OK) != 0) continue;
        if (const auto needs = needed_libraries(folder + file);
            const std::string* runtime = runtime_of_another_major(needs))
            refuse("the PyTorch in " + folder + " is built for another CUDA (it needs " + *runtime +
                   "): " + kServesCuda13);
    }
}

}  // namespace

std::string find_program(const std::string& name) {
    bool exists = false;
    std::string found;
    if (name.find('/') != std::string::npos) {
        if (is_program(name, exists)) return name;
    } else {
        const char* path = std::getenv("PATH");
        const std::string list = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
        for (size_t at = 0; at <= list.size();) {
            const size_t end = std::min(list.find(':', at), list.size());
            const std::string folder = end == at ? "." : list.substr(at, end - at);
            if (is_program(folder + '/' + name, exists)) return folder + '/' + name;
            if (exists && found.empty()) found = folder + '/' + name;
            at = end + 1;
        }
    }
    if (exists)
        refuse((found.empty() ? name : found) +
               " is not an executable file: name a program, or start it through its interpreter (python3 " +
               name + ")");
    refuse("program not found: " + name +
           (name.find('/') == std::string::npos ? " is not in PATH" : " does not exist"));
}

void check_for_virtual(const std::string& program) {
    if (is_python(program))
        return check_python(program);  // by its name: pyenv's python3 is a script for bash
    std::string file = program;
    const std::string script = interpreter_of(program);
    if (!script.empty()) file = script.find('/') == std::string::npos ? find_program(script) : script;
    if (is_python(file)) return check_python(file);
    bool is_static = false;
    try {
        is_static = links_static_cuda_runtime(file);
    } catch (const Error&) {
        return;  // not a file that can be read so: the program's own start will tell
    }
    if (is_static)
        refuse(file +
               " links the CUDA runtime statically, which the virtual GPU cannot carry: link it with -cudart "
               "shared, or run it on a real GPU with --device real");
    if (const auto needs = needed_libraries(file);
        const std::string* runtime = runtime_of_another_major(needs))
        refuse(file + " needs " + *runtime + ": " + kServesCuda13);
}

}  // namespace attnscope::launch
