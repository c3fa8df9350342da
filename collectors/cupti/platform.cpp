#include "platform.h"

#include <pthread.h>
#include <signal.h>

namespace attnscope::collector {

bool start_thread(const char* name, void* (*body)(void*), void* argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started) pthread_setname_np(thread, name);
    return started;
}

}  // namespace attnscope::collector
