/* Example of a policy plug-in: earliest deadline first; a call that would miss its deadline anyway
 * is terminated or goes to another capsule.
 *
 *   capsule index {
 *     match: service:index
 *     processing_count_max: 8
 *     policy: plugin
 *     library: earliest_deadline.so
 *     parameters: "spare_ms=20 otherwise=index-replica"
 *   }
 *
 * A call whose remaining time is less than the mean time inside plus `spare_ms` is terminated, or
 * sent to the capsule `otherwise` if one is named. Default: spare_ms=0.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neptune/capsule/policy_plugin_abi.h"

#define NAME_SIZE_MAX 64

typedef struct entry {
  uint64_t id;
  int64_t deadline_ns;
} entry;

/* Waiting calls as a heap with the earliest deadline at the top. */
typedef struct state {
  int64_t spare_ns;
  char otherwise[NAME_SIZE_MAX];
  entry* heap;
  size_t count;
  size_t capacity;
} state;

static int before(entry a, entry b) {
  return a.deadline_ns != b.deadline_ns ? a.deadline_ns < b.deadline_ns : a.id < b.id;
}

static void swap(entry* a, entry* b) {
  entry kept = *a;
  *a = *b;
  *b = kept;
}

static void rise(state* s, size_t i) {
  for (; i > 0 && before(s->heap[i], s->heap[(i - 1) / 2]); i = (i - 1) / 2) {
    swap(&s->heap[i], &s->heap[(i - 1) / 2]);
  }
}

static void sink(state* s, size_t i) {
  for (;;) {
    size_t first = i;
    for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->count; ++child) {
      if (before(s->heap[child], s->heap[first])) first = child;
    }
    if (first == i) return;
    swap(&s->heap[i], &s->heap[first]);
    i = first;
  }
}

static void take_out(state* s, size_t i) {
  s->heap[i] = s->heap[--s->count];
  if (i >= s->count) return;
  rise(s, i);
  sink(s, i);
}

static int read_parameter(state* s, const char* word, char* error, size_t error_size) {
  if (strncmp(word, "spare_ms=", 9) == 0) {
    char* end = NULL;
    errno = 0;
    const long long ms = strtoll(word + 9, &end, 10);
    if (errno == 0 && end != word + 9 && *end == 0 && ms >= 0 && ms <= 86400000) {
      s->spare_ns = ms * 1000000;
      return 1;
    }
  } else if (strncmp(word, "otherwise=", 10) == 0 && strlen(word + 10) < NAME_SIZE_MAX) {
    strcpy(s->otherwise, word + 10);
    return 1;
  }
  snprintf(error, error_size, "'%s' is neither spare_ms=NUMBER nor otherwise=NAME", word);
  return 0;
}

static void destroy(void* self) {
  free(((state*)self)->heap);
  free(self);
}

static void* create(const char* parameters, char* error, size_t error_size) {
  state* s = calloc(1, sizeof(state));
  char* words = strdup(parameters);
  int good = s != NULL && words != NULL;
  char* rest = NULL;
  for (char* word = good ? strtok_r(words, " ", &rest) : NULL; good && word != NULL;
       word = strtok_r(NULL, " ", &rest)) {
    good = read_parameter(s, word, error, error_size);
  }
  free(words);
  if (good) return s;
  free(s);
  return NULL;
}

static void arrive(void* self, const neptune_capsule_call* call,
                   const neptune_capsule_occupancy* now, neptune_capsule_decision* decision) {
  state* s = self;
  if (call->deadline_ns == NEPTUNE_CAPSULE_NO_DEADLINE) return;
  if (call->deadline_ns - call->entered_ns >= now->mean_time_ns + s->spare_ns) return;
  decision->action = s->otherwise[0] ? NEPTUNE_CAPSULE_MIGRATE : NEPTUNE_CAPSULE_TERMINATE;
  decision->target = s->otherwise;
}

static void wait_turn(void* self, const neptune_capsule_call* call) {
  state* s = self;
  if (s->count == s->capacity) {
    const size_t capacity = s->capacity == 0 ? 64 : 2 * s->capacity;
    entry* grown = realloc(s->heap, capacity * sizeof(entry));
    if (grown == NULL) abort();
    s->heap = grown;
    s->capacity = capacity;
  }
  s->heap[s->count] = (entry){call->id, call->deadline_ns};
  rise(s, s->count++);
}

static void forget(void* self, uint64_t id) {
  state* s = self;
  for (size_t i = 0; i < s->count; ++i) {
    if (s->heap[i].id == id) {
      take_out(s, i);
      return;
    }
  }
}

static uint64_t next(void* self, const neptune_capsule_occupancy* now) {
  state* s = self;
  (void)now;
  if (s->count == 0) return 0;
  const uint64_t id = s->heap[0].id;
  take_out(s, 0);
  return id;
}

const neptune_capsule_policy* neptune_capsule_policy_get(void);
const neptune_capsule_policy* neptune_capsule_policy_get(void) {
  static const neptune_capsule_policy policy = {NEPTUNE_CAPSULE_POLICY_VERSION,
                                                "earliest_deadline",
                                                create,
                                                destroy,
                                                arrive,
                                                wait_turn,
                                                forget,
                                                next};
  return &policy;
}
