#pragma once
// A function that a stand-in exports under the name, and with the C types, of the library that it stands for.
#define ATTNSCOPE_EXPORT extern "C" __attribute__((visibility("default")))
