#pragma once
/* What the virtual GPU tells beyond what CUPTI can express. C ABI, exported by the libcuda stand-in and found
   with dlsym: its presence is how a collector knows that the ground is virtual. Callbacks come on the thread
   that made the call, with no lock held, and must not call CUDA. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AttnscopeAttribute {
    const char* name; /* "m", "type_a", "shape_q" */
    const char* text; /* not NULL: the value as text; else `number` */
    int64_t number;
} AttnscopeAttribute;

/* A cuBLAS, cuBLASLt, cuDNN ... call. `correlation` comes from the same counter as CUPTI's ids: it orders
 * them. */
typedef struct AttnscopeLibraryCall {
    uint32_t size; /* sizeof(this), grows at the end */
    uint32_t correlation;
    int32_t device;
    uint32_t stream; /* stream id as CUPTI reports it */
    const char* library;
    const char* function;
    const char* operation;
    const AttnscopeAttribute* attributes;
    uint32_t attribute_count;
} AttnscopeLibraryCall;

typedef struct AttnscopeUncomputedRead {
    uint32_t size;
    uint32_t reserved;
    uint64_t bytes;
    const char* cause;    /* "memcpy", "event_time" */
    const char* returned; /* what the program was given: "zeros", "bytes 0x01" */
    const char* location; /* "train.py:12 in step", or the nearest C++ symbol; NULL when unknown */
} AttnscopeUncomputedRead;

typedef struct AttnscopeVgpuDiagnostic {
    uint32_t size;
    uint32_t reserved;
    const char* severity; /* "info" "warning" "error" */
    const char* code;     /* "unsupported-function", "assumed-figure", "static-runtime", ... */
    const char* message;
    const char* remedy;
} AttnscopeVgpuDiagnostic;

typedef struct AttnscopeVgpuObserver {
    uint32_t size;
    uint32_t reserved;
    void* user;
    void (*library_call)(void* user, const AttnscopeLibraryCall* call);
    void (*uncomputed_read)(void* user, const AttnscopeUncomputedRead* read);
    void (*diagnostic)(void* user, const AttnscopeVgpuDiagnostic* diagnostic);
    /* a figure without a source was asked for */
    void (*assumed_figure)(void* user, int32_t device, const char* key);
} AttnscopeVgpuObserver;

/* Replaces the observer; what happened before is replayed to it. NULL removes it. Returns 0. */
int attnscopeVgpuSetObserver(const AttnscopeVgpuObserver* observer);
typedef int (*AttnscopeVgpuSetObserverFn)(const AttnscopeVgpuObserver*);

/* The id of virtual device `ordinal` as users name it ("H100-SXM5"); NULL when there is none. */
const char* attnscopeVgpuDeviceId(int32_t ordinal);
typedef const char* (*AttnscopeVgpuDeviceIdFn)(int32_t);

#ifdef __cplusplus
}
#endif
