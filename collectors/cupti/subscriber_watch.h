#pragma once
// CUPTI takes one subscriber a process (CUPTI 13.0, cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS), and a
// counters collection is it. A program that profiles itself must keep its profiler, so we have to learn that
// it is about to subscribe, and step aside first.
//
// Way: the entry of the function in the loaded libcupti's table of dynamic symbols is made to point at a
// wrapper of ours. Every later look-up, be it dlsym, lazy binding or a library that is loaded later, finds
// the wrapper; addresses of the function that loaded objects hold already, in their slots or variables, are
// replaced. dlsym is watched in the same way,
// since a program may bring a libcupti of its own later and ask that one (Triton's Proton does).
#include <cstdint>

namespace attnscope::collector {

/// What the program is about to call: "cuptiSubscribe", "cuptiSubscribe_v2", "cuptiActivityEnable" or
/// "cuptiActivityEnableContext".
using AboutToProfile = void (*)(const char* function);

/// From now on `about_to_profile` is called, once, in the program's thread and before the program's call goes
/// through unchanged; whoever calls meanwhile waits for it. It must not throw. Call this after all functions
/// of libcupti that we use were looked up: a later dlsym of a watched one finds the wrapper
/// (`unwatched` undoes that). False: the loader's tables could not be written, nothing is watched.
/// Not seen: an address that the program took (with dlsym) before this call and keeps on its heap.
bool start_subscriber_watch(AboutToProfile about_to_profile);

/// Watches copies of libcupti that were loaded since; cheap (one look at the loader's counter) when nothing
/// was. Call it now and then, from callbacks of CUPTI too; any thread.
void rescan_subscriber_watch();

/// The wrappers stay and only pass through: the program's calls are no longer told.
void stop_subscriber_watch();

/// The function behind a wrapper; any other address as it is.
void* unwatched(void* function);

}  // namespace attnscope::collector
