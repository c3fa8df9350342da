#pragma once
// FAKE_<part>=hang, crash, storm: how a library behaves when it is asked.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

inline bool behaves(const char* part, const char* how) {
    const char* value = std::getenv(part);
    return value != nullptr && std::strcmp(value, how) == 0;
}

inline void misbehave(const char* part) {
    std::printf("a library prints\n");  // must not reach the user's output
    std::fflush(stdout);
    if (behaves(part, "hang"))
        for (;;) pause();
    if (behaves(part, "crash")) raise(SIGSEGV);
}

inline int number(const char* name, int otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::atoi(value) : otherwise;
}
