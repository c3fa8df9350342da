#pragma once
// An entry that stands in front of dlsym. dlsym looks from the place it was called from (RTLD_NEXT,
// RTLD_DEFAULT), so for all but the names that matter the entry jumps on, and the caller stays the caller.
extern "C" {
/// To be put in dlsym's place once attnscope_real_dlsym is set.
void* attnscope_dlsym_entry(void* library, const char* name);
extern void* (*attnscope_real_dlsym)(void* library, const char* name);
/// Given by subscriber_watch.cpp.
int attnscope_dlsym_is_watched(void* library, const char* name) noexcept;
void* attnscope_watched_dlsym(void* library, const char* name) noexcept;
}
