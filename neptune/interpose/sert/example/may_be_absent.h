// Weak declarations of the functions that factors.c calls; they exist only if the library is
// preloaded.
//
// Threads: none.

#pragma once

#pragma weak SERT_init_timer
#pragma weak SERT_start
#pragma weak SERT_end
#pragma weak SERT_set_args
#pragma weak SERT_register_rollbackpoint
#pragma weak SERT_count_lost
#pragma weak SERT_begin_arena_only
#pragma weak SERT_end_arena_only
