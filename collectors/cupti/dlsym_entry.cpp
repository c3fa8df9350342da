#include "dlsym_entry.h"

void* (*attnscope_real_dlsym)(void*, const char*) = nullptr;

// In assembly, since a compiler may turn the jump into a call, and then RTLD_NEXT would mean us.
#if defined(__x86_64__)
asm(R"(
    .text
    .p2align 4
    .globl attnscope_dlsym_entry
    .hidden attnscope_dlsym_entry
    .type attnscope_dlsym_entry, @function
attnscope_dlsym_entry:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call attnscope_dlsym_is_watched
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testl %eax, %eax
    jne attnscope_watched_dlsym
    jmpq *attnscope_real_dlsym(%rip)
    .cfi_endproc
    .size attnscope_dlsym_entry, . - attnscope_dlsym_entry
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .p2align 4
    .globl attnscope_dlsym_entry
    .hidden attnscope_dlsym_entry
    .type attnscope_dlsym_entry, %function
attnscope_dlsym_entry:
    .cfi_startproc
    hint #34
    stp x0, x1, [sp, #-32]!
    .cfi_def_cfa_offset 32
    str x30, [sp, #16]
    .cfi_offset 30, -16
    bl attnscope_dlsym_is_watched
    mov w9, w0
    ldr x30, [sp, #16]
    .cfi_restore 30
    ldp x0, x1, [sp], #32
    .cfi_def_cfa_offset 0
    cbz w9, 1f
    b attnscope_watched_dlsym
1:
    adrp x16, attnscope_real_dlsym
    ldr x16, [x16, :lo12:attnscope_real_dlsym]
    br x16
    .cfi_endproc
    .size attnscope_dlsym_entry, . - attnscope_dlsym_entry
)");
#endif
