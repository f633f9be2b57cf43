// Selective early request termination for any program with POSIX threads, in C.
//
// A request that takes longer than a threshold is ended early: what it holds is released, and its thread goes on at
// the rollback point. The threshold falls when the program says that it loses requests.
//
//     sigjmp_buf env;
//     while (1) {
//       struct request *request = get_request();
//       if (sigsetjmp(env, 1) == 0) {
//         SERT_register_rollbackpoint(&env);
//       } else {
//         answer_ended_early();
//         continue;
//       }
//       SERT_start();
//       process_request(request);
//       SERT_end();
//     }
//
// Only requests that are read-only and stateless may be ended early: what they did is forgotten. README.md says what a
// request may do.
//
// Where a request is ended: never while it holds a lock, never inside the C library. Else where it calls a function
// that this library stands before (allocation, descriptors, streams, locks, waiting), or SERT_check; and between
// SERT_begin_arena_only and SERT_end_arena_only anywhere in the program's own code.
//
// Source: [Zhou06], "SERT APIs". The first five functions are those of the paper.
// Threads: any; each thread has its own request. A request belongs to the thread that started it.
// Limits: 4,096 threads with requests at one time; requests of further threads run to their end.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Threshold = lower + F(p) (upper - lower); F is 1 up to the low watermark of throughput loss p, 0 from the high one on,
// and ((high - p) / (high - low)) ^ alpha between.
struct sert_arg {
  double lower_bound_s;   // > 0; default 0.5
  double upper_bound_s;   // >= lower_bound_s, at most a day; default 15
  double low_watermark;   // >= 0; default 0.01
  double high_watermark;  // > low_watermark, <= 1; default 0.1
  double alpha;           // > 0; default 1
  double window_s;        // over which loss is measured, > 0, at most a day; default 2
};

// Starts the timer thread, which sends `signum` to threads whose requests take too long. 0, or -1 with errno: EINVAL no
// signal that can be caught; EBUSY the program has a handler for it; EALREADY the timer runs; ENOMEM, EAGAIN no memory
// or thread to be had.
extern int SERT_init_timer(int signum);

// A request begins and ends on this thread. Without a timer and a rollback point it runs to its end. A start within
// a request is counted, and so is its end; an end without a start does nothing. From the first instruction of SERT_end
// on the request has ended by itself: it is not ended early any more, and a signal for it is for nobody.
extern void SERT_start(void);
extern void SERT_end(void);

// For all threads, at once. Values out of range change nothing: errno is EINVAL then, else 0.
extern void SERT_set_args(struct sert_arg* args);

// A sigjmp_buf that sigsetjmp(env, 1) filled in a function that does not return before SERT_end. It holds for the next
// request; within a request, for this one. A point in a function that has returned is noticed where that can be, and
// the request then runs to its end.
extern void SERT_register_rollbackpoint(void* env);

// Beyond the paper.

// Requests that were lost: refused, or dropped because they had waited too long.
extern void SERT_count_lost(unsigned count);

// A place where the request may be ended, in code that calls nothing else.
extern void SERT_check(void);

// Between them the request only computes on its own memory, so it may be ended between any two instructions of the
// program's own code, without a check. May be nested.
extern void SERT_begin_arena_only(void);
extern void SERT_end_arena_only(void);

// Between them the thread does something that is not the request's: calls into a storage engine, logging, filling of
// a cache. It is not ended there, and what it allocates or opens is not the request's. May be nested.
extern void SERT_begin_outside(void);
extern void SERT_end_outside(void);

// Code of the shared library that `address` is in counts as the program's own. 0, or -1 with errno ENOENT or ENOSPC.
extern int SERT_add_code(const void* address);

// What this thread's request holds, and what all requests did so far.
struct sert_statistics {
  uint64_t requests;            // that began
  uint64_t terminated;          // of them
  uint64_t terminated_between;  // of those, between two instructions of arena-only code
  uint64_t released_memory;     // bytes of their arenas
  uint64_t released_descriptors;
  uint64_t released_streams;
  uint64_t released_directories;
  uint64_t released_mappings;
  uint64_t released_processes;  // that popen started
  uint64_t gone_rollback_points;
  size_t held_memory;  // bytes of this request's arena
  size_t held_objects;
  size_t held_descriptors;
  size_t held_streams;
  size_t held_directories;
  size_t held_mappings;
  size_t held_processes;
  int held_locks;
  int is_overdue;  // this request is to be ended as soon as it may be
  // This thread's latest request that was ended: from the asking until it went on at its rollback point.
  int64_t taken_after_ns;
  // Bytes of all arenas, those of requests that ended and left something behind among them.
  size_t memory_of_all;
  double threshold_s;
};
extern void SERT_get_statistics(struct sert_statistics* statistics);

#ifdef __cplusplus
}
#endif
