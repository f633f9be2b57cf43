// The interposed functions: each jumps through its slot of preload_targets and leaves the arguments
// in place. A call whose target is not resolved yet calls preload_find first.

#include "neptune/interpose/preload/call_names.h"

        .hidden preload_targets
        .hidden preload_find
        .set call_index, 0

        .macro TRAMPOLINE name
        .globl  \name
        .type   \name, @function
\name:
        endbr64
        movq    preload_targets+8*call_index(%rip), %r11
        testq   %r11, %r11
        je      .Lfind_\name
        jmp     *%r11
.Lfind_\name:
        movl    $call_index, %r11d
        jmp     find_target
        .size   \name, . - \name
        .set    call_index, call_index + 1
        .endm

        .text
        .type   find_target, @function
find_target:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        andq    $-16, %rsp
        subq    $192, %rsp
        movq    %rax, 0(%rsp)
        movq    %rdi, 8(%rsp)
        movq    %rsi, 16(%rsp)
        movq    %rdx, 24(%rsp)
        movq    %rcx, 32(%rsp)
        movq    %r8, 40(%rsp)
        movq    %r9, 48(%rsp)
        movaps  %xmm0, 64(%rsp)
        movaps  %xmm1, 80(%rsp)
        movaps  %xmm2, 96(%rsp)
        movaps  %xmm3, 112(%rsp)
        movaps  %xmm4, 128(%rsp)
        movaps  %xmm5, 144(%rsp)
        movaps  %xmm6, 160(%rsp)
        movaps  %xmm7, 176(%rsp)
        movl    %r11d, %edi
        call    preload_find
        movq    %rax, %r11
        movq    0(%rsp), %rax
        movq    8(%rsp), %rdi
        movq    16(%rsp), %rsi
        movq    24(%rsp), %rdx
        movq    32(%rsp), %rcx
        movq    40(%rsp), %r8
        movq    48(%rsp), %r9
        movaps  64(%rsp), %xmm0
        movaps  80(%rsp), %xmm1
        movaps  96(%rsp), %xmm2
        movaps  112(%rsp), %xmm3
        movaps  128(%rsp), %xmm4
        movaps  144(%rsp), %xmm5
        movaps  160(%rsp), %xmm6
        movaps  176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmp     *%r11
        .cfi_endproc
        .size   find_target, . - find_target

#define NEPTUNE_TRAMPOLINE(name) TRAMPOLINE name;
NEPTUNE_PRELOAD_CALLS(NEPTUNE_TRAMPOLINE)

        .section .note.GNU-stack, "", @progbits
