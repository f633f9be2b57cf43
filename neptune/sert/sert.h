// Selective early request termination for any program with POSIX threads, in C.
//
// A request that takes longer than a threshold is ended early: its resources are released, and its
// thread continues at the rollback point. The threshold falls when the program reports lost
// requests.
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
// Only read-only, stateless requests may be ended early, because their effects are discarded.
// README.md describes what a request may do.
//
// A request is never ended while it holds a lock, or inside the C library. Otherwise it is ended
// where it calls a function that this library wraps (allocation, descriptors, streams, locks,
// waiting) or SERT_check; between SERT_begin_arena_only and SERT_end_arena_only it is ended
// anywhere in the program's own code.
//
// Source: [Zhou06], "SERT APIs". The first five functions are those of the paper.
// Threads: any; each thread has its own request. A request belongs to the thread that started it.
// Limits: 4,096 threads with requests at a time; requests of further threads are not ended early.

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Threshold = lower + F(p) (upper - lower); F is 1 up to the low watermark of throughput loss p, 0
// from the high one on, and ((high - p) / (high - low)) ^ alpha between.
struct sert_arg {
  double lower_bound_s;   // > 0; default 0.5
  double upper_bound_s;   // >= lower_bound_s, at most a day; default 15
  double low_watermark;   // >= 0; default 0.01
  double high_watermark;  // > low_watermark, <= 1; default 0.1
  double alpha;           // > 0; default 1
  double window_s;        // window of the loss measurement, > 0, at most a day; default 2
};

// Starts the timer thread, which sends `signum` to threads whose requests take too long. Returns 0,
// or -1 with errno: EINVAL the signal cannot be caught; EBUSY the program has a handler for it;
// EALREADY the timer runs; ENOMEM, EAGAIN no memory or thread available.
extern int SERT_init_timer(int signum);

// Begin and end a request on this thread. Without a timer and a rollback point a request is not
// ended early. A start within a request is counted, and needs an end of its own; an end without a
// start has no effect. From the first instruction of SERT_end on the request has ended normally,
// and a signal for it is ignored.
extern void SERT_start(void);
extern void SERT_end(void);

// Applies to all threads, at once. Values out of range have no effect and set errno to EINVAL;
// otherwise errno is set to 0.
extern void SERT_set_args(struct sert_arg* args);

// Registers a sigjmp_buf filled by sigsetjmp(env, 1) in a function that does not return before
// SERT_end. It applies to the next request or, within a request, to the current one. If the
// function has returned, this is detected where possible, and the request is then not ended early.
extern void SERT_register_rollbackpoint(void* env);

// Extensions to the paper.

// Reports lost requests: refused, or dropped because they had waited too long.
extern void SERT_count_lost(unsigned count);

// A point at which the request may be ended, for code that calls no wrapped function.
extern void SERT_check(void);

// Bracket code in which the request only computes on its own memory, so that it may be ended
// between any two instructions of the program's own code, without a check. May be nested.
extern void SERT_begin_arena_only(void);
extern void SERT_end_arena_only(void);

// Bracket code that does not belong to the request: calls into a storage engine, logging, filling a
// cache. The request is not ended there, and resources allocated or opened there do not belong to
// it. May be nested.
extern void SERT_begin_outside(void);
extern void SERT_end_outside(void);

// Makes the code of the shared library that contains `address` count as the program's own. Returns
// 0, or -1 with errno ENOENT or ENOSPC.
extern int SERT_add_code(const void* address);

// Resources of this thread's request, and totals of all requests.
struct sert_statistics {
  uint64_t requests;            // begun
  uint64_t terminated;          // requests ended early
  uint64_t terminated_between;  // of those, between two instructions of arena-only code
  uint64_t released_memory;     // bytes of their arenas
  uint64_t released_descriptors;
  uint64_t released_streams;
  uint64_t released_directories;
  uint64_t released_mappings;
  uint64_t released_processes;  // started by popen
  uint64_t gone_rollback_points;
  size_t held_memory;  // bytes of this request's arena
  size_t held_objects;
  size_t held_descriptors;
  size_t held_streams;
  size_t held_directories;
  size_t held_mappings;
  size_t held_processes;
  int held_locks;
  int is_overdue;  // this request will be ended at the next possible point
  // This thread's latest terminated request: time from the request for termination to the rollback
  // point.
  int64_t taken_after_ns;
  // Bytes of all arenas, including those of ended requests with remaining objects.
  size_t memory_of_all;
  double threshold_s;
};
extern void SERT_get_statistics(struct sert_statistics* statistics);

#ifdef __cplusplus
}
#endif
