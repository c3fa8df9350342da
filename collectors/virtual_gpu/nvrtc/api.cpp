// NVRTC's functions: to the real library where there is one, else to a program that is not compiled.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/api.h"
#include "nvrtc/program.h"
#include "nvrtc/real.h"
#include "symbols/answers.h"
#include "symbols/export.h"

using namespace attnscope::vgpu::nvrtc;
using attnscope::vgpu::report;

namespace {

enum Result : int {
    success = 0,
    program_creation_failure = 2,
    invalid_input = 3,
    invalid_program = 4,
    no_name_expressions_after_compilation = 8,
    no_lowered_names_before_compilation = 9,
    name_expression_not_valid = 10,
    internal_error = 11
};

constexpr attnscope::vgpu::StatusName names[] = {{0, "NVRTC_SUCCESS"},
                                                 {1, "NVRTC_ERROR_OUT_OF_MEMORY"},
                                                 {2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE"},
                                                 {3, "NVRTC_ERROR_INVALID_INPUT"},
                                                 {4, "NVRTC_ERROR_INVALID_PROGRAM"},
                                                 {5, "NVRTC_ERROR_INVALID_OPTION"},
                                                 {6, "NVRTC_ERROR_COMPILATION"},
                                                 {7, "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"},
                                                 {8, "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION"},
                                                 {9, "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION"},
                                                 {10, "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID"},
                                                 {11, "NVRTC_ERROR_INTERNAL_ERROR"},
                                                 {12, "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"},
                                                 {13, "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED"},
                                                 {14, "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED"},
                                                 {15, "NVRTC_ERROR_PCH_CREATE"},
                                                 {16, "NVRTC_ERROR_CANCELLED"}};
constexpr int architectures[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

Result copy_text(const std::string& text, char* target) {
    if (!target) return invalid_input;
    std::memcpy(target, text.c_str(), text.size() + 1);
    return success;
}
Result text_size(const std::string& text, size_t* size) {
    if (!size) return invalid_input;
    *size = text.size() + 1;  // with the zero at the end, as NVRTC counts
    return success;
}

}  // namespace

/// Defines the function: the real library's where there is one, else the body that follows.
#define FUNCTION(name, parameters, arguments)                                                  \
    static Result own_##name parameters;                                                       \
    ATTNSCOPE_EXPORT Result name parameters {                                                  \
        static const auto real = reinterpret_cast<Result(*) parameters>(real_function(#name)); \
        if (!real) return own_##name arguments;                                                \
        attnscope::vgpu::ExpectPrivateTableRequest nvrtc_asks;                                 \
        return real arguments;                                                                 \
    }                                                                                          \
    static Result own_##name parameters

ATTNSCOPE_EXPORT const char* nvrtcGetErrorString(int result) {
    return attnscope::vgpu::status_name(names, result, "NVRTC_ERROR unknown");
}

FUNCTION(nvrtcVersion, (int* major, int* minor), (major, minor)) {
    if (!major || !minor) return invalid_input;
    // PyTorch asks for the version before it looks into its cache.
    keep_out_of_kernel_cache();
    *major = 13;
    *minor = 0;
    return success;
}
FUNCTION(nvrtcGetNumSupportedArchs, (int* count), (count)) {
    if (!count) return invalid_input;
    *count = static_cast<int>(std::size(architectures));
    return success;
}
FUNCTION(nvrtcGetSupportedArchs, (int* list), (list)) {
    if (!list) return invalid_input;
    std::copy(std::begin(architectures), std::end(architectures), list);
    return success;
}
FUNCTION(nvrtcCreateProgram,
         (Program * *program, const char* source, const char* name, int headers, const char* const* contents,
          const char* const* includes),
         (program, source, name, headers, contents, includes)) {
    (void)contents;
    (void)includes;
    if (!program || !source || headers < 0) return invalid_input;
    *program = new Program{source, name ? name : "default_program", {}, {}, {}, false};
    return success;
}
FUNCTION(nvrtcDestroyProgram, (Program * *program), (program)) {
    if (!program || !*program) return invalid_program;
    delete *program;
    *program = nullptr;
    return success;
}
FUNCTION(nvrtcAddNameExpression, (Program * program, const char* expression), (program, expression)) {
    if (!program) return invalid_program;
    if (!expression) return invalid_input;
    if (program->compiled) return no_name_expressions_after_compilation;
    program->expressions.emplace_back(expression);
    return success;
}
FUNCTION(nvrtcCompileProgram, (Program * program, int count, const char* const* options),
         (program, count, options)) {
    (void)options;
    if (!program) return invalid_program;
    if (count < 0) return invalid_input;
    compile(*program);
    report("info", "runtime-compilation-not-compiled",
           "kernels compiled at run time were not compiled (no NVRTC here): their launches are recorded, "
           "their registers and shared "
           "memory are not known",
           "install NVRTC of CUDA 13 (pip install nvidia-cuda-nvrtc), or name one with "
           "ATTNSCOPE_NVRTC=/path/libnvrtc.so.13");
    return success;
}
FUNCTION(nvrtcGetLoweredName, (Program * program, const char* expression, const char** lowered),
         (program, expression, lowered)) {
    if (!program) return invalid_program;
    if (!expression || !lowered) return invalid_input;
    if (!program->compiled) return no_lowered_names_before_compilation;
    auto found = program->lowered.find(expression);
    if (found == program->lowered.end()) return name_expression_not_valid;
    *lowered = found->second.c_str();
    return success;
}
FUNCTION(nvrtcGetProgramLogSize, (Program * program, size_t* size), (program, size)) {
    if (!program) return invalid_program;
    return text_size("", size);
}
FUNCTION(nvrtcGetProgramLog, (Program * program, char* log), (program, log)) {
    if (!program) return invalid_program;
    return copy_text("", log);
}
FUNCTION(nvrtcGetCUBINSize, (Program * program, size_t* size), (program, size)) {
    if (!program || !program->compiled) return invalid_program;
    return text_size(program->image, size);
}
FUNCTION(nvrtcGetCUBIN, (Program * program, char* image), (program, image)) {
    if (!program || !program->compiled) return invalid_program;
    return copy_text(program->image, image);
}
FUNCTION(nvrtcGetPTXSize, (Program * program, size_t* size), (program, size)) {
    if (!program || !program->compiled) return invalid_program;
    return text_size(program->image, size);
}
FUNCTION(nvrtcGetPTX, (Program * program, char* image), (program, image)) {
    if (!program || !program->compiled) return invalid_program;
    return copy_text(program->image, image);
}

// Only the real library has these. Their arguments are at most three words, whatever their types.
#define REAL_ONLY(name)                                      \
    FUNCTION(name, (void* a, void* b, void* c), (a, b, c)) { \
        (void)a, (void)b, (void)c;                           \
        attnscope::vgpu::report_unsupported("NVRTC", #name); \
        return internal_error;                               \
    }
REAL_ONLY(nvrtcGetLTOIRSize)
REAL_ONLY(nvrtcGetLTOIR)
REAL_ONLY(nvrtcGetOptiXIRSize)
REAL_ONLY(nvrtcGetOptiXIR)
REAL_ONLY(nvrtcGetPCHHeapSize)
REAL_ONLY(nvrtcSetPCHHeapSize)
REAL_ONLY(nvrtcGetPCHHeapSizeRequired)
REAL_ONLY(nvrtcGetPCHCreateStatus)
REAL_ONLY(nvrtcSetFlowCallback)
