#pragma once
// What keeps the library's glibc floor at 2.28, and threads that do not disturb the program.

namespace attnscope::collector {

/// Starts a detached thread with all signals blocked, so that the program's handlers never run on it. False
/// when it cannot.
bool start_thread(const char* name, void* (*body)(void*), void* argument);

}  // namespace attnscope::collector
