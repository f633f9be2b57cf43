/* A pool of threads that finds the prime factors of the numbers on its standard input, and ends
 * requests that take too long: the slides' program in plain C.
 *
 *   factors [--lower_ms=N] [--upper_ms=N] [--threads=N]  <numbers  >answers
 *
 * It prints one line per answer, in order of completion: "91 = 7 * 13", "X ended early", or "X
 * refused" if 64 numbers are already queued. The program reports refusals to the library: while
 * there are many, the limit for a number is the lower bound, else the upper one.
 *
 * Source: [Zhou06], "A Pseudo-code Example".
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neptune/sert/sert.h"

enum { kQueueLength = 64, kThreadsMax = 64, kFactorsMax = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t queue[kQueueLength];
static int queue_length = 0;
static int input_ended = 0;

/* Returns 0 at the end of the input. */
static int get_request(uint64_t* asked) {
  int found = 0;
  pthread_mutex_lock(&mutex);
  while (queue_length == 0 && !input_ended) pthread_cond_wait(&changed, &mutex);
  if (queue_length > 0) {
    *asked = queue[0];
    memmove(queue, queue + 1, (size_t)--queue_length * sizeof(queue[0]));
    found = 1;
  }
  pthread_mutex_unlock(&mutex);
  return found;
}

static int put_request(uint64_t asked) {
  int fits = 0;
  pthread_mutex_lock(&mutex);
  if (queue_length < kQueueLength) {
    queue[queue_length++] = asked;
    fits = 1;
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&mutex);
  return fits;
}

/* Only computes on memory of its own, and declares that. Returns a text that the caller frees. */
static char* process_request(uint64_t asked) {
  const size_t size = 32 + 24 * kFactorsMax;
  char* const text = malloc(size);
  uint64_t factors[kFactorsMax];
  int count = 0;
  uint64_t rest = asked;
  if (text == NULL) return NULL;
  SERT_begin_arena_only();
  for (uint64_t divisor = 2; divisor <= rest / divisor; ++divisor) {
    while (rest % divisor == 0) {
      factors[count++] = divisor;
      rest /= divisor;
    }
  }
  SERT_end_arena_only();
  if (rest > 1 || count == 0) factors[count++] = rest;
  size_t used = (size_t)snprintf(text, size, "%" PRIu64 " =", asked);
  for (int i = 0; i < count; ++i) {
    used +=
        (size_t)snprintf(text + used, size - used, "%s %" PRIu64, i == 0 ? "" : " *", factors[i]);
  }
  return text;
}

/* The current number of a thread; not a local variable, because longjmp does not preserve those. */
static _Thread_local uint64_t number;

static void* worker(void* unused) {
  while (get_request(&number)) {
    sigjmp_buf env;
    if (sigsetjmp(env, 1) == 0) {
      SERT_register_rollbackpoint(&env);
    } else {
      /* The request was ended early; its resources are already released. */
      printf("%" PRIu64 " ended early\n", number);
      continue;
    }
    SERT_start();
    char* const answer = process_request(number);
    if (answer != NULL) puts(answer);
    free(answer);
    SERT_end();
  }
  return unused;
}

static int read_amount(const char* argument, const char* name, double* amount) {
  const size_t length = strlen(name);
  char* end = NULL;
  if (strncmp(argument, name, length) != 0) return 0;
  *amount = strtod(argument + length, &end);
  return end != argument + length && *end == '\0';
}

static int usage(void) {
  fputs("factors [--lower_ms=N] [--upper_ms=N] [--threads=N] <numbers\n", stderr);
  return 2;
}

int main(int argc, char** argv) {
  double lower_ms = 100;
  double upper_ms = 1000;
  double threads = 2;
  for (int i = 1; i < argc; ++i) {
    if (!read_amount(argv[i], "--lower_ms=", &lower_ms) &&
        !read_amount(argv[i], "--upper_ms=", &upper_ms) &&
        !read_amount(argv[i], "--threads=", &threads)) {
      return usage();
    }
  }
  if (!(threads >= 1 && threads <= kThreadsMax)) return usage();

  struct sert_arg limits = {lower_ms / 1000, upper_ms / 1000, 0.01, 0.1, 1, 2};
  errno = 0;
  SERT_set_args(&limits);
  if (errno != 0) return usage();
  if (SERT_init_timer(SIGUSR1) != 0) {
    perror("SERT_init_timer");
    return 1;
  }

  const int count = (int)threads;
  pthread_t workers[kThreadsMax];
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&workers[i], NULL, worker, NULL) != 0) {
      fputs("no thread is to be had\n", stderr);
      return 1;
    }
  }
  uint64_t read = 0;
  int wrong = 0;
  for (char line[64]; fgets(line, sizeof(line), stdin) != NULL;) {
    if (sscanf(line, "%" SCNu64, &read) != 1 || read == 0) {
      fprintf(stderr, "not a number above 0: %s", line);
      wrong = 1;
    } else if (!put_request(read)) {
      SERT_count_lost(1);
      printf("%" PRIu64 " refused\n", read);
    }
  }
  pthread_mutex_lock(&mutex);
  input_ended = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < count; ++i) pthread_join(workers[i], NULL);
  return wrong;
}
