#include "other_client.h"

#include <cupti.h>
#include <dlfcn.h>

#include <cstring>

#include "subscriber_watch.h"

namespace attnscope::collector {
namespace {

void no_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

template <class Function>
Function look_up(void* library, const char* name) {
    return reinterpret_cast<Function>(unwatched(dlsym(library, name)));
}

}  // namespace

std::optional<std::string> name_of_other_client(void* libcupti) {
    const auto unsubscribe = look_up<decltype(&cuptiUnsubscribe)>(libcupti, "cuptiUnsubscribe");
    if (unsubscribe == nullptr) return std::nullopt;
    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = {};
    CUptiResult result = CUPTI_ERROR_UNKNOWN;
    CUpti_SubscriberHandle subscriber = nullptr;
    if (const auto newer = look_up<decltype(&cuptiSubscribe_v2)>(libcupti, "cuptiSubscribe_v2")) {
        CUpti_SubscriberParams params{};
        params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
        params.subscriberName = "attnscope";
        params.oldSubscriberName = holder;
        params.oldSubscriberSize = sizeof holder;
        result = newer(&subscriber, no_callback, nullptr, &params);
    } else if (const auto older = look_up<decltype(&cuptiSubscribe)>(libcupti, "cuptiSubscribe")) {
        result = older(&subscriber, no_callback, nullptr);
    }
    if (result == CUPTI_SUCCESS) unsubscribe(subscriber);
    if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) return std::nullopt;
    const size_t length = strnlen(holder, sizeof holder);
    return length != 0 ? std::string(holder, length) : "another CUPTI client";
}

}  // namespace attnscope::collector
