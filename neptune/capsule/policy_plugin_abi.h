// ABI of a policy plug-in: a shared library with one function that returns a table of callbacks.
//
// The interface is plain C so that plug-ins can be written in any language. The library exports
//
//     const neptune_capsule_policy *neptune_capsule_policy_get(void);
//
// and the capsule calls the table's functions, which must all be set:
//
//     create            once; then for each call:
//       arrive          the call arrives: proceed, delay, terminate or migrate
//       wait            the call waits for its turn; then exactly one of
//         next          ... returned it: its turn has come
//         forget        ... it gave up or timed out
//     destroy           once, when the capsule or its policy is destroyed
//
// Threads: at most one function of a state runs at a time, under the capsule's lock, on the threads
// that serve requests. A function must not wait; microseconds count. An argument is valid until the
// function returns; what `decision` points to must stay valid until the next function of that state
// is called.
//
// If a function throws, or `next` returns a call that does not wait, or returns none while no call
// is with the dependency, the plug-in is not called again: the capsule continues first come first
// served and reports that in its log and statistics.
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
  uint64_t id;         /* unique in its capsule, never 0; 0 in arrive */
  uint64_t caller;     /* distinguishes callers */
  int64_t entered_ns;  /* monotonic; in arrive the current time */
  int64_t deadline_ns; /* the earlier of its own and the capsule's; in arrive its own */
  /* The operation; set in arrive only, else empty and 0. Texts are zero-terminated. */
  const char* service_class;
  const char* service; /* set for a service call */
  uint32_t partition;  /* or NEPTUNE_CAPSULE_NO_PARTITION */
  const char* node;    /* node that hosts the service; empty: not known */
  uint32_t address;    /* address of the peer, host byte order; 0: not known */
  uint16_t port;
  const char* host; /* name that the address was resolved from, if known */
  const char* path; /* set for a device operation */
} neptune_capsule_call;

typedef struct neptune_capsule_occupancy {
  uint64_t resident_count; /* not counting the call that arrives */
  uint64_t waiting_count;
  uint64_t processing_count;
  uint64_t resident_count_max;
  uint64_t processing_count_max;
  int64_t mean_time_ns; /* moving average of the time inside */
} neptune_capsule_occupancy;

enum {
  NEPTUNE_CAPSULE_PROCEED = 0,
  NEPTUNE_CAPSULE_DELAY = 1,
  NEPTUNE_CAPSULE_TERMINATE = 2,
  NEPTUNE_CAPSULE_MIGRATE = 3
};

typedef struct neptune_capsule_decision {
  int32_t action;     /* PROCEED unless arrive sets another one */
  int64_t delay_ns;   /* for DELAY */
  const char* target; /* for MIGRATE: the name of a capsule of the same type */
} neptune_capsule_decision;

typedef struct neptune_capsule_policy {
  uint32_t version; /* NEPTUNE_CAPSULE_POLICY_VERSION */
  const char* name;
  /* Creates the state of one capsule from the `parameters` of its definition. On failure returns
   * null and writes the reason to `error`, zero-terminated and at most error_size bytes long. */
  void* (*create)(const char* parameters, char* error, size_t error_size);
  void (*destroy)(void* state);
  void (*arrive)(void* state, const neptune_capsule_call* call,
                 const neptune_capsule_occupancy* now, neptune_capsule_decision* decision);
  void (*wait)(void* state, const neptune_capsule_call* call);
  void (*forget)(void* state, uint64_t id);
  /* Removes and returns the id of a waiting call. 0: none before another call ends. */
  uint64_t (*next)(void* state, const neptune_capsule_occupancy* now);
} neptune_capsule_policy;

#define NEPTUNE_CAPSULE_POLICY_ENTRY "neptune_capsule_policy_get"

#ifdef __cplusplus
}
#endif
