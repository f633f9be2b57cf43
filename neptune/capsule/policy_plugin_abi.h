// What a policy plug-in is: a shared library with one function that returns a table of callbacks.
//
// Plain C, so that any language can make one. The library exports
//
//     const neptune_capsule_policy *neptune_capsule_policy_get(void);
//
// and the capsule calls the table's functions, all of which must be there:
//
//     create            once; then for each call:
//       arrive          it wants in: proceed, delay, terminate or migrate
//       wait            it waits its turn; then one of
//         next          ... returned it: its turn has come
//         forget        ... it gave up or timed out
//     destroy           once, when the capsule or its policy goes
//
// Threads: at most one function of a state runs at a time, under the capsule's lock, on the threads that serve requests.
// A function must not wait; microseconds count. An argument is valid until the function returns; what `decision` points
// to must stay valid until the next function of that state is called.
//
// A plug-in that throws, or whose `next` returns a call that does not wait, or none while none is with the dependency,
// is not called again: the capsule goes on first come first served and says so in its log and statistics.
//
// A library stays loaded until the process ends.
//
// Source: [Chu05] IV.D (plug-in scheduling module).

#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a plug-in built for an older header would misunderstand this one. */
#define NEPTUNE_CAPSULE_POLICY_VERSION 1

#define NEPTUNE_CAPSULE_NO_DEADLINE INT64_MAX
#define NEPTUNE_CAPSULE_NO_PARTITION UINT32_MAX

typedef struct neptune_capsule_call {
  uint64_t id;         /* unique in its capsule, never 0; in arrive 0 */
  uint64_t caller;     /* tells callers apart */
  int64_t entered_ns;  /* monotonic; in arrive the time now */
  int64_t deadline_ns; /* of its own or of the capsule, the earlier one; in arrive its own */
  /* What it wants; in arrive only, else empty and 0. Texts end with a zero byte. */
  const char* service_class;
  const char* service; /* of a service call */
  uint32_t partition;  /* or NEPTUNE_CAPSULE_NO_PARTITION */
  const char* node;    /* that hosts the service; empty: not known */
  uint32_t address;    /* of the peer, host byte order; 0: not known */
  uint16_t port;
  const char* host; /* that the address was resolved from, if that is known */
  const char* path; /* of a device operation */
} neptune_capsule_call;

typedef struct neptune_capsule_occupancy {
  uint64_t resident_count; /* a call that arrives is not counted yet */
  uint64_t waiting_count;
  uint64_t processing_count;
  uint64_t resident_count_max;
  uint64_t processing_count_max;
  int64_t mean_time_ns; /* inside, of late */
} neptune_capsule_occupancy;

enum {
  NEPTUNE_CAPSULE_PROCEED = 0,
  NEPTUNE_CAPSULE_DELAY = 1,
  NEPTUNE_CAPSULE_TERMINATE = 2,
  NEPTUNE_CAPSULE_MIGRATE = 3
};

typedef struct neptune_capsule_decision {
  int32_t action;     /* PROCEED unless arrive says otherwise */
  int64_t delay_ns;   /* of DELAY */
  const char* target; /* of MIGRATE: the name of a capsule of the same type */
} neptune_capsule_decision;

typedef struct neptune_capsule_policy {
  uint32_t version; /* NEPTUNE_CAPSULE_POLICY_VERSION */
  const char* name;
  /* A state of its own for each capsule, from the `parameters` of its definition. Null: it cannot be, and why is
   * written to `error`, a text of at most error_size bytes with its zero byte. */
  void* (*create)(const char* parameters, char* error, size_t error_size);
  void (*destroy)(void* state);
  void (*arrive)(void* state, const neptune_capsule_call* call,
                 const neptune_capsule_occupancy* now, neptune_capsule_decision* decision);
  void (*wait)(void* state, const neptune_capsule_call* call);
  void (*forget)(void* state, uint64_t id);
  /* The id of a waiting call, which then waits no more. 0: none before another call ends. */
  uint64_t (*next)(void* state, const neptune_capsule_occupancy* now);
} neptune_capsule_policy;

#define NEPTUNE_CAPSULE_POLICY_ENTRY "neptune_capsule_policy_get"

#ifdef __cplusplus
}
#endif
