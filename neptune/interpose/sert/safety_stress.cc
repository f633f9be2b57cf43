// Ends requests at random instants in all kinds of handlers, and counts lost resources.
//
//   safety_stress [terminations] [threads] [seed]      default 20,000 8 1
//
// Each thread runs one request after the other; each is a loop of one kind that never ends by
// itself. Prints the number of ended requests, those ended between two instructions, and those of
// each kind; also the lost bytes of arenas, lost descriptors, locks that are not free, lost
// processes and hung threads, and fails unless these are all zero:
//
//   ended=20007 between=1998 lost_bytes=0 lost_descriptors=0 lost_locks=0 lost_processes=0 hangs=0
//   allocations=2031 ...
//
// (one line). A hang is detected by the program's processor time, so the test tolerates a busy
// machine.

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "neptune/sert/sert.h"

namespace {

constexpr int kLockCount = 4;
pthread_mutex_t locks[kLockCount];
pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
FILE* shared_stream = nullptr;
std::atomic<uint64_t> ended_early{0};
uint64_t wanted = 0;

void Touch(void* object) { asm volatile("" : : "r"(object) : "memory"); }

void Allocations() {
  std::vector<void*> objects(64);
  for (uint32_t i = 1;; i = i * 1664525 + 1013904223) {
    void*& object = objects[i % 64];
    const size_t size = i / 64 % 8 == 0 ? i / 512 % 100'000 : i / 512 % 500;
    object = i % 3 == 0 ? realloc(object, size + 1) : (free(object), malloc(size));
    if (object != nullptr) memset(object, 1, std::min<size_t>(size, 64));
    Touch(object);
  }
}

void Containers() {
  while (true) {
    std::map<std::string, std::vector<std::string>> map;
    for (int i = 0; i < 50; ++i) {
      map[std::to_string(i * 7919) + std::string(20, 'k')].resize(5, std::string(40, 'v'));
    }
    std::ostringstream text;
    for (const auto& [key, values] : map) text << key << values.size() << 1.5;
    auto shared = std::make_shared<std::string>(text.str());
    Touch(shared.get());
  }
}

void Locks() {
  for (int i = 0;; ++i) {
    pthread_mutex_t& lock = locks[i % kLockCount];
    pthread_mutex_lock(&lock);
    Touch(&lock);
    pthread_rwlock_rdlock(&shared_lock);
    free(malloc(100));
    pthread_rwlock_unlock(&shared_lock);
    pthread_mutex_unlock(&lock);
    std::string between(50, 'b');
    Touch(between.data());
  }
}

void Streams() {
  for (int i = 0;; ++i) {
    FILE* const stream = fopen("/dev/zero", "r");
    if (stream == nullptr) abort();
    char bytes[100];
    if (fread(bytes, 1, sizeof(bytes), stream) != sizeof(bytes)) abort();
    fprintf(shared_stream, "%d %s %f\n", i, "a line", 1.5);
    if (i % 100 == 0) rewind(shared_stream);
    char* text = nullptr;
    if (asprintf(&text, "%d-%d", i, i) < 0) abort();
    free(text);
    fclose(stream);
  }
}

void Sockets() {
  while (true) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) abort();
    char bytes[64] = {};
    if (write(pair[0], bytes, sizeof(bytes)) != sizeof(bytes)) abort();
    if (read(pair[1], bytes, sizeof(bytes)) != sizeof(bytes)) abort();
    const int copy = dup(pair[0]);
    void* const mapped =
        mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(mapped, 1 << 15);
    close(copy);
    close(pair[0]);
    close(pair[1]);
    munmap(static_cast<char*>(mapped) + (1 << 15), 1 << 15);
  }
}

void ThrowDeep(int depth) {
  const std::string local(60, 'l');
  if (depth == 0) throw std::runtime_error("thrown " + local);
  ThrowDeep(depth - 1);
  Touch(const_cast<char*>(local.data()));
}

void Exceptions() {
  while (true) {
    try {
      ThrowDeep(5);
    } catch (const std::exception& error) {
      std::string copy = error.what();
      try {
        throw copy;
      } catch (const std::string& other) {
        Touch(const_cast<char*>(other.data()));
      }
    }
    SERT_check();
  }
}

void RegularExpressions() {
  while (true) {
    regex_t regex;
    if (regcomp(&regex, "^(a|b)*c([0-9]+)$", REG_EXTENDED) != 0) abort();
    regmatch_t matches[3];
    regexec(&regex, "abababababababc12345", 3, matches, 0);
    regfree(&regex);
    const std::regex other("(x+x+)+y");
    std::smatch match;
    const std::string text = "xxxxxxxxxxy";
    Touch(std::regex_match(text, match, other) ? &match : nullptr);
  }
}

void WithoutAnyCheck() {
  SERT_begin_arena_only();
  volatile uint64_t sum = 0;
  while (true) sum = sum * 31 + 7;
}

void Waiting() {
  int pair[2];
  if (pipe(pair) != 0) abort();
  char byte = 0;
  if (read(pair[0], &byte, 1) != 1) abort();
}

// Only one in 50 runs processes, since that costs a thousand times what another request does; the
// others wait.
void Processes() {
  static std::atomic<uint32_t> turn{0};
  if (turn.fetch_add(1, std::memory_order_relaxed) % 50 != 0) Waiting();
  while (true) {
    FILE* const stream = popen("echo said", "r");
    char line[16];
    if (stream == nullptr) abort();
    // The signal interrupts the C library's own wait with EINTR.
    if (fgets(line, sizeof(line), stream) == nullptr && errno != EINTR) abort();
    pclose(stream);
  }
}

struct Kind {
  const char* name;
  void (*handler)();
  std::atomic<uint64_t> ended_early{0};
};
Kind kinds[] = {{"allocations", &Allocations},
                {"containers", &Containers},
                {"locks", &Locks},
                {"streams", &Streams},
                {"sockets", &Sockets},
                {"exceptions", &Exceptions},
                {"regexes", &RegularExpressions},
                {"loops", &WithoutAnyCheck},
                {"waits", &Waiting},
                {"processes", &Processes}};
constexpr size_t kKindCount = sizeof(kinds) / sizeof(kinds[0]);

Kind& KindOf(uint32_t random) { return kinds[random / 65536 % kKindCount]; }

void* Work(void* argument) {
  auto random = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(argument));
  sigjmp_buf env;
  volatile uint32_t next = random;
  while (true) {
    if (sigsetjmp(env, 1) != 0) {
      KindOf(next).ended_early.fetch_add(1, std::memory_order_relaxed);
      ended_early.fetch_add(1, std::memory_order_relaxed);
      next = next * 1664525 + 1013904223;
    } else if (ended_early.load(std::memory_order_relaxed) < wanted) {
      SERT_register_rollbackpoint(&env);
      SERT_start();
      KindOf(next).handler();
      abort();  // no request ends by itself
    } else {
      return nullptr;
    }
  }
}

double ProcessorSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Waits for the end. False: hung, i.e. the timer has run and no request of any thread has ended.
bool Ends(pthread_t thread) {
  constexpr double kHangS = 20;
  uint64_t ended = 0;
  double used_then = 0;
  while (true) {
    timespec look{};
    clock_gettime(CLOCK_REALTIME, &look);
    ++look.tv_sec;
    if (pthread_timedjoin_np(thread, nullptr, &look) == 0) return true;
    const uint64_t ended_now = ended_early.load(std::memory_order_relaxed);
    if (ended_now != ended) {
      ended = ended_now;
      used_then = ProcessorSeconds();
    } else if (ProcessorSeconds() - used_then > kHangS) {
      return false;
    }
  }
}

int OpenDescriptors() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

int Run(int thread_count, uint32_t seed) {
  for (pthread_mutex_t& lock : locks) pthread_mutex_init(&lock, nullptr);
  shared_stream = tmpfile();
  sert_arg args = {.lower_bound_s = 50e-6,
                   .upper_bound_s = 50e-6,
                   .low_watermark = 0.01,
                   .high_watermark = 0.1,
                   .alpha = 1,
                   .window_s = 2};
  SERT_set_args(&args);
  if (SERT_init_timer(SIGRTMIN + 3) != 0) return 1;
  const int descriptors = OpenDescriptors();
  std::vector<pthread_t> threads(static_cast<size_t>(thread_count));
  for (size_t i = 0; i < threads.size(); ++i) {
    pthread_create(&threads[i], nullptr, &Work,
                   reinterpret_cast<void*>(uintptr_t{seed} * 1000 + i + 1));
  }
  int hangs = 0;
  for (const pthread_t thread : threads) hangs += Ends(thread) ? 0 : 1;
  int held_locks = 0;
  for (pthread_mutex_t& lock : locks) held_locks += pthread_mutex_trylock(&lock) == 0 ? 0 : 1;
  held_locks += pthread_rwlock_trywrlock(&shared_lock) == 0 ? 0 : 1;
  const int lost_descriptors = OpenDescriptors() - descriptors;
  const int lost_processes = waitpid(-1, nullptr, WNOHANG) != -1 ? 1 : 0;  // or more
  sert_statistics statistics;
  SERT_get_statistics(&statistics);
  printf(
      "ended=%llu between=%llu lost_bytes=%zu lost_descriptors=%d lost_locks=%d lost_processes=%d "
      "hangs=%d",
      static_cast<unsigned long long>(statistics.terminated),
      static_cast<unsigned long long>(statistics.terminated_between), statistics.memory_of_all,
      lost_descriptors, held_locks, lost_processes, hangs);
  for (const Kind& kind : kinds) {
    printf(" %s=%llu", kind.name, static_cast<unsigned long long>(kind.ended_early.load()));
  }
  printf("\n");
  fflush(stdout);
  const bool lost = statistics.memory_of_all != 0 || lost_descriptors != 0 || held_locks != 0 ||
                    lost_processes != 0 || hangs != 0 || statistics.terminated < wanted;
  _exit(lost ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  wanted = argc > 1 ? strtoull(argv[1], nullptr, 10) : 20'000;
  const int thread_count = argc > 2 ? atoi(argv[2]) : 8;
  const uint32_t seed = argc > 3 ? static_cast<uint32_t>(atoi(argv[3])) : 1;
  return Run(thread_count, seed);
}
