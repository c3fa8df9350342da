#pragma once
/* What the LibTorch extension tells the injection library. C, because the two are built against different
   standard libraries: the extension shares the program's, the injection library carries its own. Every
   pointer is valid during the call only. Nothing may be thrown through these functions. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AttnscopeTorchOperation {
    uint32_t size;    /* sizeof(this), grows at the end */
    uint32_t id;      /* from 1, below 2^17 */
    uint32_t parent;  /* 0: none; was told before */
    uint32_t forward; /* backward: the operation that it is the derivative of; 0: not known */
    uint32_t backward;
    uint32_t input_count;
    const char* name;
    const char* const* inputs;
} AttnscopeTorchOperation;

typedef struct AttnscopeTorchBackend {
    const char* name;
    const char* const* refused;
    const char* const* removed;
    const char* const* hidden; /* "pad-head-dim 12582912" */
    uint32_t refused_count, removed_count, hidden_count;
} AttnscopeTorchBackend;

typedef struct AttnscopeTorchChoice {
    uint32_t size;
    uint32_t operation;
    const char* chosen;
    const char* const* order;
    const AttnscopeTorchBackend* backends;
    uint32_t order_count, backend_count;
} AttnscopeTorchChoice;

typedef struct AttnscopeTorchSink {
    uint32_t size;
    uint32_t reserved;
    void* user;
    /* Once for each id, before its first enter. Any thread, one at a time. */
    void (*operation)(void* user, const AttnscopeTorchOperation* operation);
    /* The calling thread begins and ends an operation. `call` numbers the outermost one it is in. */
    void (*enter)(void* user, uint32_t operation, uint64_t call);
    void (*leave)(void* user, uint32_t operation, uint64_t call);
    void (*choice)(void* user, const AttnscopeTorchChoice* choice);
    void (*diagnostic)(void* user, const char* severity, const char* code, const char* message,
                       const char* remedy);
} AttnscopeTorchSink;

/* The extension's one export. `sink` must live as long as the process. 0: operations are recorded from now
 * on, on all threads. */
int attnscope_torch_start(const AttnscopeTorchSink* sink);
typedef int (*AttnscopeTorchStartFn)(const AttnscopeTorchSink*);

/* TORCH_ABI_VERSION of the LibTorch that the extension was built for: what aoti_torch_abi_version(), a C
   function of libtorch_cpu.so since 2.9, answers there. */
#define ATTNSCOPE_TORCH_VERSION_SYMBOL "aoti_torch_abi_version"

#ifdef __cplusplus
}
#endif
