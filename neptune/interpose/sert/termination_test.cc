// Requests of an ordinary program that are ended early: where they end, and that they leave
// nothing.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "neptune/interpose/sert/ended_requests.h"
#include "neptune/sert/sert.h"

namespace neptune::sert {
namespace {

TEST_F(TerminationTest, ARequestThatEndsInTimeEndsByItself) {
  const OtherLimit limit(60);
  const uint64_t before = Statistics().terminated;
  EXPECT_FALSE(RunRequest([](void*) { Allocate(100); }, nullptr));
  EXPECT_EQ(Statistics().terminated, before);
}

TEST_F(TerminationTest, ALongRequestIsEndedWhereItAllocates) {
  EXPECT_TRUE(RunRequest(
      [](void*) {
        while (true) Allocate(100);
      },
      nullptr));
  EXPECT_EQ(Statistics().held_objects, 0u);
}

TEST_F(TerminationTest, ALongRequestIsEndedAtACheck) {
  EXPECT_TRUE(RunRequest(
      [](void*) {
        while (true) SERT_check();
      },
      nullptr));
}

TEST_F(TerminationTest, CodeWithoutAnyCheckIsEndedWhereItIsArenaOnly) {
  const uint64_t before = Statistics().terminated_between;
  EXPECT_TRUE(RunRequest(
      [](void*) {
        SERT_begin_arena_only();
        volatile double sum = 0;
        while (true) sum = sum + 1;
      },
      nullptr));
  EXPECT_EQ(Statistics().terminated_between, before + 1);
}

TEST_F(TerminationTest, ARequestThatWaitsIsEnded) {
  EXPECT_TRUE(RunRequest([](void*) { poll(nullptr, 0, 1'000'000); }, nullptr));
  static int pair[2];
  ASSERT_EQ(pipe(pair), 0);
  EXPECT_TRUE(RunRequest(
      [](void*) {
        char byte;
        (void)!read(pair[0], &byte, 1);
      },
      nullptr));
  close(pair[0]);
  close(pair[1]);
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

TEST_F(TerminationTest, TerminatedRequestReleasesWhatItHolds) {
  const int descriptors = OpenDescriptors();
  const sert_statistics before = Statistics();
  EXPECT_TRUE(RunRequest(
      [](void*) {
        pthread_mutex_lock(&mutex);  // prevents ending before it holds everything
        for (int i = 0; i < 100; ++i) memset(malloc(10'000), 1, 10'000);
        (void)open("/dev/null", O_RDONLY);
        (void)socket(AF_INET, SOCK_STREAM, 0);
        int pair[2];
        (void)!pipe(pair);
        FILE* const stream = fopen("/dev/null", "w");
        fprintf(stream, "a line");
        (void)readdir(opendir("/"));
        (void)mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const sert_statistics held = Statistics();
        if (held.held_descriptors != 4 || held.held_streams != 1 || held.held_mappings != 1 ||
            held.held_directories != 1 || held.held_memory < 1'000'000) {
          abort();
        }
        BeOverdue();
        pthread_mutex_unlock(&mutex);
        abort();  // the unlock is a check
      },
      nullptr));
  const sert_statistics after = Statistics();
  EXPECT_EQ(after.released_descriptors, before.released_descriptors + 4);
  EXPECT_EQ(after.released_streams, before.released_streams + 1);
  EXPECT_EQ(after.released_directories, before.released_directories + 1);
  EXPECT_EQ(after.released_mappings, before.released_mappings + 1);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

// A socket that every process started by a request has open, until the last of them has ended.
class Witness {
 public:
  Witness() { EXPECT_EQ(pipe(pair_), 0); }
  ~Witness() { close(pair_[0]); }
  void ExpectAllGone() {
    close(pair_[1]);
    char byte = 0;
    EXPECT_EQ(read(pair_[0], &byte, 1), 0);  // waits while any process has it open
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD) << "one was not waited for";
  }

 private:
  int pair_[2];
};

// The signal ends the C library's own wait.
void ReadLine(char* line, int size, FILE* stream) {
  while (fgets(line, size, stream) == nullptr) {
    if (errno != EINTR) abort();
    clearerr(stream);
  }
}

TEST_F(TerminationTest, ProcessesThatItStartedAreEndedWithAllOfTheirs) {
  const int descriptors = OpenDescriptors();
  const uint64_t before = Statistics().released_processes;
  {
    Witness witness;
    EXPECT_TRUE(RunRequest(
        [](void*) {
          pthread_mutex_lock(&mutex);  // starting the first one takes longer than the limit
          char line[16];
          FILE* const reads = popen("sleep 1000 & echo there; wait", "r");
          FILE* const writes = popen("sleep 1000", "w");
          ReadLine(line, sizeof(line), reads);
          fprintf(writes, "unread text");
          if (Statistics().held_processes != 2 || Statistics().held_descriptors != 0) abort();
          BeOverdue();
          pthread_mutex_unlock(&mutex);
          abort();  // the unlock is a check
        },
        nullptr));
    witness.ExpectAllGone();
  }
  EXPECT_EQ(Statistics().released_processes, before + 2);
  EXPECT_EQ(OpenDescriptors(), descriptors);
}

TEST_F(TerminationTest, ARequestThatWaitsForItsProcessIsEnded) {
  const int descriptors = OpenDescriptors();
  const OtherLimit limit(0.3);
  Witness witness;
  EXPECT_TRUE(RunRequest([](void*) { pclose(popen("sleep 1000", "w")); }, nullptr));
  witness.ExpectAllGone();
  EXPECT_EQ(OpenDescriptors(), descriptors + 1) << "the witness's";
}

TEST_F(TerminationTest, ProcessesOfARequestThatEndsByItselfBelongToTheProgram) {
  static FILE* left;
  static int statuses[3];
  const OtherLimit limit(60);
  Witness witness;
  EXPECT_FALSE(RunRequest(
      [](void*) {
        char line[16] = {};
        FILE* const reads = popen("echo said; exit 3", "re");
        if (fgets(line, sizeof(line), reads) == nullptr || strcmp(line, "said\n") != 0) abort();
        statuses[0] = pclose(reads);
        FILE* const writes = popen("read line; test \"$line\" = done", "w");
        fprintf(writes, "done\n");
        statuses[1] = pclose(writes);
        left = popen("exit 4", "r");
        if (popen("true", "x") != nullptr || errno != EINVAL) abort();
      },
      nullptr));
  statuses[2] = pclose(left);
  EXPECT_EQ(WEXITSTATUS(statuses[0]), 3);
  EXPECT_EQ(WEXITSTATUS(statuses[1]), 0);
  EXPECT_EQ(WEXITSTATUS(statuses[2]), 4);
  EXPECT_EQ(pclose(popen("exit 5", "r")) >> 8, 5) << "outside of requests";
  witness.ExpectAllGone();
}

TEST_F(TerminationTest, WhileALockIsHeldItIsNotEnded) {
  static int unlocked;
  unlocked = 0;
  EXPECT_TRUE(RunRequest(
      [](void*) {
        pthread_mutex_lock(&mutex);
        BeOverdue();
        Allocate(1000);
        SERT_check();
        poll(nullptr, 0, 3);
        unlocked = 1;
        pthread_mutex_unlock(&mutex);
        unlocked = 2;
        while (true) SERT_check();
      },
      nullptr));
  EXPECT_EQ(unlocked, 1) << "ended at the unlock";
  EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
  pthread_mutex_unlock(&mutex);
}

TEST_F(TerminationTest, OutsideItIsNotEnded) {
  static void* kept;
  EXPECT_TRUE(RunRequest(
      [](void*) {
        SERT_begin_outside();
        kept = malloc(100);
        strcpy(static_cast<char*>(kept), "kept");
        BeOverdue();
        Allocate(1000);
        SERT_check();
        SERT_end_outside();
        abort();  // its end is a check
      },
      nullptr));
  EXPECT_STREQ(static_cast<char*>(kept), "kept");
  free(kept);
}

// First-use initialisers belong to no request.
const std::vector<int>& MadeOnce() {
  static const std::vector<int> made(1000, 7);
  return made;
}

TEST_F(TerminationTest, AStaticMadeInARequestStays) {
  EXPECT_TRUE(RunRequest(
      [](void*) {
        if (MadeOnce()[5] != 7) abort();
        while (true) Allocate(10);
      },
      nullptr));
  std::vector<char> other(100'000, 'x');
  EXPECT_EQ(MadeOnce()[999], 7);
}

TEST_F(TerminationTest, MemoryFromBeforeAndForAfterCrossesTheBoundary) {
  static char* before_request;
  before_request = static_cast<char*>(malloc(10));
  strcpy(before_request, "before");
  static char* left_behind;
  {
    const OtherLimit limit(60);
    EXPECT_FALSE(RunRequest(
        [](void*) {
          before_request = static_cast<char*>(realloc(before_request, 100'000));
          left_behind = strdup("left behind");
          left_behind = static_cast<char*>(realloc(left_behind, 5000));
        },
        nullptr));
  }
  EXPECT_STREQ(before_request, "before");
  EXPECT_STREQ(left_behind, "left behind");
  EXPECT_TRUE(RunRequest(
      [](void*) {
        while (true) Allocate(10'000);
      },
      nullptr));
  EXPECT_STREQ(before_request, "before");
  EXPECT_STREQ(left_behind, "left behind");
  free(before_request);
  left_behind = static_cast<char*>(realloc(left_behind, 50));
  EXPECT_STREQ(left_behind, "left behind");
  free(left_behind);
}

TEST_F(TerminationTest, ExceptionsInFlightAreForgotten) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(RunRequest(
        [](void*) {
          while (true) {
            try {
              throw std::runtime_error(std::string(100, 'x'));
            } catch (const std::exception& error) {
              std::string copy = error.what();
              SERT_check();
            }
          }
        },
        nullptr));
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    try {
      throw 1;
    } catch (int) {
    }
  }
}

TEST_F(TerminationTest, ContainersStringsAndRegularExpressions) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(RunRequest(
        [](void*) {
          while (true) {
            std::map<std::string, std::vector<int>> map;
            for (int k = 0; k < 100; ++k) map[std::to_string(k) + std::string(30, 'k')].resize(50);
            regex_t regex;
            regcomp(&regex, "(a|b)*c[0-9]+", REG_EXTENDED);
            regmatch_t match[2];
            regexec(&regex, "ababababc123", 2, match, 0);
            regfree(&regex);
          }
        },
        nullptr));
  }
}

TEST_F(TerminationTest, StreamsOfOthersSurvive) {
  static FILE* const stream = tmpfile();
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(RunRequest(
        [](void*) {
          while (true) {
            fprintf(stream, "%d %f\n", 1, 2.5);
            SERT_check();
          }
        },
        nullptr));
  }
  EXPECT_EQ(fflush(stream), 0);
  rewind(stream);
  char line[100];
  ASSERT_NE(fgets(line, sizeof(line), stream), nullptr);
  EXPECT_STREQ(line, "1 2.500000\n");
  fclose(stream);
}

TEST_F(TerminationTest, NestedStartsAndStrayEndsAreHarmless) {
  const OtherLimit limit(60);
  SERT_end();
  EXPECT_FALSE(RunRequest(
      [](void*) {
        SERT_start();
        SERT_end();
        if (Statistics().held_objects != 0) abort();
        Allocate(1);
      },
      nullptr));
  SERT_end();
}

void RegisterAndReturn() {
  sigjmp_buf env;
  if (sigsetjmp(env, 1) == 0) SERT_register_rollbackpoint(&env);
}

__attribute__((noinline)) bool Deep(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  if (depth > 0) return Deep(depth - 1) && room[0] >= 0;
  RegisterAndReturn();
  return true;
}

TEST_F(TerminationTest, ARollbackPointThatIsGoneIsNotUsed) {
  const uint64_t before = Statistics().gone_rollback_points;
  Deep(20);
  SERT_start();
  BeOverdue();
  Allocate(10);
  SERT_end();
  EXPECT_EQ(Statistics().gone_rollback_points, before + 1);
}

TEST_F(TerminationTest, RequestWithoutARollbackPointRunsToItsEnd) {
  SERT_start();
  BeOverdue();
  SERT_check();
  SERT_end();
}

TEST_F(TerminationTest, ArgumentsOutOfRangeChangeNothing) {
  const auto refused = [](auto change) {
    sert_arg args = AtOnce();
    change(args);
    errno = 0;
    SERT_set_args(&args);
    return errno == EINVAL;
  };
  EXPECT_TRUE(refused([](sert_arg& args) { args.lower_bound_s = 0; }));
  EXPECT_TRUE(refused([](sert_arg& args) { args.upper_bound_s = 1e9; }));
  EXPECT_TRUE(refused([](sert_arg& args) { args.upper_bound_s = NAN; }));
  EXPECT_TRUE(refused([](sert_arg& args) { args.high_watermark = 0; }));
  EXPECT_TRUE(refused([](sert_arg& args) { args.alpha = -1; }));
  EXPECT_TRUE(refused([](sert_arg& args) { args.window_s = 0; }));
  errno = 0;
  SERT_set_args(nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_FALSE(refused([](sert_arg&) {}));
}

TEST_F(TerminationTest, TheTimerStartsOnceAndWantsASignalOfItsOwn) {
  EXPECT_EQ(SERT_init_timer(SIGRTMIN + 3), -1);
  EXPECT_EQ(errno, EALREADY);
  EXPECT_EQ(SERT_init_timer(SIGKILL), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(SERT_init_timer(0), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(TerminationTest, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  const uint64_t before = Statistics().terminated;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(RunRequest(
            [](void*) {
              while (true) {
                std::vector<std::string> strings(10, std::string(100, 's'));
                pthread_mutex_lock(&mutex);
                strings.push_back(strings[3]);
                pthread_mutex_unlock(&mutex);
              }
            },
            nullptr));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Statistics().terminated, before + 800);
}

}  // namespace
}  // namespace neptune::sert
