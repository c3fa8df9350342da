// A library that profiles itself: links libcupti, as PyTorch does. Built with lazy binding and with "-z now".
#include <cupti.h>
#include <dlfcn.h>

namespace {
void nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
decltype(&cuptiSubscribe) kept = nullptr;
}  // namespace

extern "C" {

int watch_client_subscribe(CUpti_SubscriberHandle* subscriber, void* user) {
    return cuptiSubscribe(subscriber, nothing, user);
}
int watch_client_subscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_SubscriberParams* params) {
    return cuptiSubscribe_v2(subscriber, nothing, nullptr, params);
}
int watch_client_unsubscribe(CUpti_SubscriberHandle subscriber) {
    return cuptiUnsubscribe(subscriber);
}
int watch_client_enable_activity(CUpti_ActivityKind kind) {
    return cuptiActivityEnable(kind);
}
/// By name, from here: what the loader finds after this library, and Proton's way to CUPTI.
void* watch_client_next(const char* name) {
    void* volatile found = dlsym(RTLD_NEXT, name);  // not a jump: the caller must be this library
    return found;
}
void* watch_client_look_up(void* library, const char* name) {
    return dlsym(library, name);
}
void watch_client_keep(void* library) {
    kept = reinterpret_cast<decltype(&cuptiSubscribe)>(dlsym(library, "cuptiSubscribe"));
}
int watch_client_subscribe_kept(CUpti_SubscriberHandle* subscriber) {
    return kept(subscriber, nothing, nullptr);
}
int watch_client_where() {
    return WATCH_CLIENT_WHERE;
}
}
