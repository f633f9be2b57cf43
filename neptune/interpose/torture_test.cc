// Parks many times and checks that thread-local state of user-level threads is intact after each
// park.
//
//   pairs on one kernel thread   exchange a token over a socket pair: each read finds nothing,
//                                parks, and compares the state afterwards
//   TLS pairs                    handshakes and messages over socket pairs, between two kernel
//                                threads
//
// Compared after each park: errno, locale, pthread-specific data, OpenSSL's error queue, rounding
// mode, the exception being handled, a stream of the thread, the stack. `__thread` objects belong
// to the kernel thread, and are compared with its values.
//
// NEPTUNE_TORTURE_PARKS: number of parks. Default: 200,000.

#include <fenv.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <openssl/err.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "neptune/interpose/test_tls.h"
#include "neptune/interpose/user_threads.h"
#include "neptune/thread/synchronization.h"
#include "neptune/world/random_source.h"

namespace neptune::interpose {
namespace {

constexpr int kLoopCount = 2;
constexpr int kPairCount = 100;  // per loop
constexpr int kTlsPairCount = 8;
constexpr uint64_t kParksForEachHandshake = 5000;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::atomic<uint64_t> mismatch_count{0};

void Compare(const char* what, bool equal) {
  if (equal) return;
  if (mismatch_count.fetch_add(1) < 20) ADD_FAILURE() << what << " is not the thread's own";
}

pthread_key_t specific_key;
// Belongs to a kernel thread, and thus to all user-level threads on it.
thread_local uint64_t shared_count = 0;

// The reason of this thread's newest error in OpenSSL's queue.
int NewestReason() { return ERR_GET_REASON(ERR_peek_last_error()); }

// State that a thread has set and expects to find.
class Belongings {
 public:
  Belongings(int id, locale_t locale) : id_(id), random_(static_cast<uint64_t>(id)) {
    pthread_setspecific(specific_key, this);
    uselocale(locale);
    locale_ = locale;
    stream_ = open_memstream(&written_, &written_size_);
    stack_.fill(id_);
    Change();
  }
  ~Belongings() {
    std::fclose(stream_);
    Compare("its stream", expected_ == std::string(written_, written_size_));
    std::free(written_);
    ERR_clear_error();
    fesetround(FE_TONEAREST);
  }

  // Other values than before.
  void Change() {
    rounding_ = kRoundings[random_.Below(kRoundings.size())];
    fesetround(rounding_);
    reason_ = 100 + static_cast<int>(random_.Below(800));
    ERR_clear_error();
    ERR_new();
    ERR_set_error(ERR_LIB_USER, reason_, nullptr);
    if (expected_.size() < kStreamSizeMax) {
      const int size = std::fprintf(stream_, "%d %d\n", id_, reason_);
      Compare("what it printed", size > 0);
      expected_ += std::to_string(id_) + " " + std::to_string(reason_) + "\n";
    }
    error_ = 1 + static_cast<int>(random_.Below(130));
    errno = error_;  // set last, so that nothing changes it before the park
  }

  void Check() {
    Compare("errno", errno == error_);
    Compare("the locale", uselocale(nullptr) == locale_);
    Compare("its effect", (MB_CUR_MAX > 1) == (id_ % 2 == 1));
    Compare("the specific value", pthread_getspecific(specific_key) == this);
    Compare("the queue of errors", NewestReason() == reason_);
    Compare("the rounding mode", fegetround() == rounding_);
    for (const int word : stack_) Compare("the stack", word == id_);
  }

  RandomSource& random() { return random_; }

 private:
  static constexpr std::array<int, 4> kRoundings = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                                    FE_TOWARDZERO};
  static constexpr size_t kStreamSizeMax = 4000;

  const int id_;
  RandomSource random_;
  locale_t locale_ = nullptr;
  int rounding_ = 0;
  int reason_ = 0;
  int error_ = 0;
  std::FILE* stream_ = nullptr;
  char* written_ = nullptr;
  size_t written_size_ = 0;
  std::string expected_;
  std::array<volatile int, 32> stack_;
};

class Torture {
 public:
  Torture() : threads_(kLoopCount) {
    // Odd numbers use a multibyte locale.
    for (int i = 0; i < 16; ++i) {
      locales_.push_back(newlocale(LC_ALL_MASK, i % 2 == 1 ? "C.UTF-8" : "C", nullptr));
      EXPECT_NE(locales_.back(), nullptr);
    }
  }
  ~Torture() {
    for (const locale_t locale : locales_) freelocale(locale);
  }

  void StartPairs(uint64_t park_count) {
    const uint64_t each = park_count / (kLoopCount * kPairCount * 2) + 1;
    for (int loop = 0; loop < kLoopCount; ++loop) {
      for (int pair = 0; pair < kPairCount; ++pair) StartPair(loop, each);
    }
  }

  void StartTlsPairs(uint64_t handshake_count) {
    for (int i = 0; i < kTlsPairCount; ++i) {
      threads_.Start(0, [this, i, handshake_count] {
        for (uint64_t n = i; n < handshake_count; n += kTlsPairCount) TlsPair(n);
      });
    }
  }

  void Wait() { threads_.Wait(); }
  uint64_t park_count() const { return park_count_; }
  uint64_t handshake_count() const { return handshake_count_; }

  // The `__thread` object of each kernel thread, as its event handlers see it.
  std::vector<uint64_t> SharedCounts() {
    std::vector<uint64_t> counts(kLoopCount);
    for (int loop = 0; loop < kLoopCount; ++loop) {
      threads_.OnLoop(loop, [&] { counts[loop] = shared_count; });
    }
    return counts;
  }
  std::vector<uint64_t> ExpectedSharedCounts() const { return {shared_[0], shared_[1]}; }

 private:
  void StartPair(int loop, uint64_t round_count) {
    const auto ends = std::make_shared<std::array<int, 2>>();
    const int id = next_id_;
    next_id_ += 2;
    threads_.Start(loop, [this, loop, ends, id, round_count] {
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends->data()), 0);
      const ThreadRef partner =
          *ThreadScheduler::Current()->Spawn([this, loop, ends, id, round_count] {
            PassToken(loop, (*ends)[1], id + 1, round_count);
          });
      this_thread::Yield();  // the partner waits
      const char token = 't';
      ASSERT_EQ(write((*ends)[0], &token, 1), 1);
      PassToken(loop, (*ends)[0], id, round_count);
      EXPECT_EQ(ThreadScheduler::Current()->Join(*partner.get(), kNever), ParkResult::kWoken);
      close((*ends)[0]);
      close((*ends)[1]);
    });
  }

  // Waits for the token and returns it, `round_count` times. While this thread waits, the other one
  // has the token, and runs only after this one has parked.
  void PassToken(int loop, int fd, int id, uint64_t round_count) {
    Belongings belongings(id, locales_[id % locales_.size()]);
    const uint64_t* const shared = &shared_count;
    for (uint64_t round = 0; round < round_count; ++round) {
      ++shared_count;
      shared_[loop].fetch_add(1, std::memory_order_relaxed);
      if (belongings.random().Below(8) == 0) {
        ParkWhileHandling(fd, belongings);
      } else {
        belongings.Change();
        Park(fd, belongings);
      }
      Compare("the address of a __thread object", shared == &shared_count);
      const char token = 't';
      if (send(fd, &token, 1, MSG_NOSIGNAL) != 1)
        return;  // the other thread has finished its rounds
    }
    shutdown(fd, SHUT_RDWR);
  }

  void Park(int fd, Belongings& belongings) {
    char token = 0;
    const ssize_t size = read(fd, &token, 1);
    belongings.Check();
    Compare("the token", size == 0 || token == 't');
    park_count_.fetch_add(1, std::memory_order_relaxed);
  }

  void ParkWhileHandling(int fd, Belongings& belongings) {
    const int thrown = static_cast<int>(belongings.random().Below(1000));
    try {
      throw thrown;
    } catch (int caught) {
      belongings.Change();
      Park(fd, belongings);
      Compare("what is handled", caught == thrown && std::uncaught_exceptions() == 0);
      try {
        throw;
      } catch (int again) {
        Compare("what is handled", again == thrown);
      }
    }
  }

  // One handshake between threads of two kernel threads, and some messages.
  void TlsPair(uint64_t number) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    OneShotEvent served;
    threads_.scheduler(1).loop().Post([this, &served, server = ends[1], number] {
      EXPECT_TRUE(threads_.scheduler(1)
                      .Spawn([this, &served, server, number] {
                        EchoOverTls(tls_, server, number);
                        served.Set();
                      })
                      .ok());
    });
    Compare("what TLS brought", AskOverTls(tls_, ends[0], number));
    EXPECT_EQ(served.Wait(), ParkResult::kWoken);
    close(ends[0]);
    close(ends[1]);
    handshake_count_.fetch_add(1, std::memory_order_relaxed);
  }

  UserThreads threads_;
  TestTls tls_;
  std::vector<locale_t> locales_;
  int next_id_ = 0;
  std::atomic<uint64_t> park_count_{0};
  std::atomic<uint64_t> handshake_count_{0};
  std::array<std::atomic<uint64_t>, kLoopCount> shared_{};
};

TEST(TortureTest, ThreadLocalStateIsKeptAcrossParks) {
  const uint64_t park_count = FromEnvironment("NEPTUNE_TORTURE_PARKS", 200'000);
  ASSERT_EQ(pthread_key_create(&specific_key, nullptr), 0);
  Torture torture;
  torture.StartPairs(park_count);
  torture.StartTlsPairs(park_count / kParksForEachHandshake + kTlsPairCount);
  torture.Wait();
  EXPECT_EQ(mismatch_count, 0u);
  EXPECT_GE(torture.park_count(), park_count);
  EXPECT_EQ(torture.SharedCounts(), torture.ExpectedSharedCounts());
  std::cout << torture.park_count() << " parks, " << torture.handshake_count() << " handshakes, "
            << mismatch_count << " mismatches\n";
  ASSERT_EQ(pthread_key_delete(specific_key), 0);
}

}  // namespace
}  // namespace neptune::interpose
