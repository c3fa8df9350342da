#include "collectors/virtual_gpu/core/python_frames.h"

#include <dlfcn.h>

#include <mutex>

namespace attnscope::vgpu {

namespace {

// PyThreadState*, PyFrameObject*, PyCodeObject*, PyObject* are all just pointers here.
struct Api {
    int (*is_initialized)();
    int (*is_finalizing)();  // may be missing
    void* (*this_thread_state)();
    int (*ensure)();
    void (*release)(int);
    void* (*get_frame)(void*);
    void* (*get_back)(void*);
    void* (*get_code)(void*);
    int (*get_line)(void*);
    void* (*get_attribute)(void*, const char*);
    const char* (*as_text)(void*);
    void (*drop)(void*);
    void (*clear_error)();
    bool usable = false;
};

template <class Function>
bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    return function != nullptr;
}

Api api() {
    static Api found{};
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (found.usable) return found;
    Api a{};
    if (!find(a.is_finalizing, "Py_IsFinalizing")) find(a.is_finalizing, "_Py_IsFinalizing");
    a.usable = find(a.is_initialized, "Py_IsInitialized") &&
               find(a.this_thread_state, "PyGILState_GetThisThreadState") &&
               find(a.ensure, "PyGILState_Ensure") && find(a.release, "PyGILState_Release") &&
               find(a.get_frame, "PyThreadState_GetFrame") && find(a.get_back, "PyFrame_GetBack") &&
               find(a.get_code, "PyFrame_GetCode") && find(a.get_line, "PyFrame_GetLineNumber") &&
               find(a.get_attribute, "PyObject_GetAttrString") && find(a.as_text, "PyUnicode_AsUTF8") &&
               find(a.drop, "Py_DecRef") && find(a.clear_error, "PyErr_Clear");
    if (a.usable) found = a;
    return a;
}

std::string attribute(const Api& a, void* code, const char* name) {
    void* value = a.get_attribute(code, name);
    const char* text = value != nullptr ? a.as_text(value) : nullptr;
    std::string result = text != nullptr ? text : "?";
    if (text == nullptr) a.clear_error();
    if (value != nullptr) a.drop(value);
    return result;
}

}  // namespace

std::string python_frames() {
    const Api a = api();
    if (!a.usable || a.is_initialized() == 0 || (a.is_finalizing != nullptr && a.is_finalizing() != 0))
        return {};
    void* state = a.this_thread_state();
    if (state == nullptr) return {};
    // No lock of ours is held here, so whoever holds the GIL cannot be waiting for us.
    const int before = a.ensure();
    std::string text;
    void* frame = a.get_frame(state);
    for (int depth = 0; frame != nullptr && depth < 100; depth++) {
        void* code = a.get_code(frame);
        text += "  File \"" + attribute(a, code, "co_filename") + "\", line " +
                std::to_string(a.get_line(frame)) + " in " + attribute(a, code, "co_name") + "\n";
        a.drop(code);
        void* outer = a.get_back(frame);
        a.drop(frame);
        frame = outer;
    }
    if (frame != nullptr) a.drop(frame);
    a.release(before);
    return text;
}

}  // namespace attnscope::vgpu
