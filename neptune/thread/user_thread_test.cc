// User-level threads over a loop that the test advances by hand, and over two kernel threads.

#include "neptune/thread/user_thread.h"

#include <gtest/gtest.h>
#include <locale.h>

#include <cerrno>
#include <stdexcept>
#include <string>

#include "neptune/base/notification.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/thread_specific.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

class UserThreadTest : public testing::Test {
 protected:
  UserThreadTest() : world_(MakeRealWorld({})), loop_(*world_->StartLoop({.name = "test"})) {}
  ~UserThreadTest() override { world_->Stop(); }

  // Runs `body` on a user-level thread of the loop and waits until it and all others have finished.
  void Run(Task body, const ThreadSchedulerOptions& options = {}) {
    Notification finished;
    loop_->Post([&] {
      scheduler_ = std::make_unique<ThreadScheduler>(*loop_, options);
      ASSERT_TRUE(scheduler_
                      ->Spawn([&] {
                        body();
                        while (scheduler_->live_count() > 1) this_thread::Yield();
                        finished.Notify();
                      })
                      .ok());
    });
    finished.WaitForNotification();
    Notification destroyed;
    loop_->Post([&] {
      scheduler_.reset();
      destroyed.Notify();
    });
    destroyed.WaitForNotification();
  }

  ThreadRef Spawn(Task body) {
    auto thread = ThreadScheduler::Current()->Spawn(std::move(body));
    EXPECT_TRUE(thread.ok()) << thread.status();
    return *thread;
  }

  std::unique_ptr<World> world_;
  Loop* loop_;
  std::unique_ptr<ThreadScheduler> scheduler_;
};

TEST_F(UserThreadTest, YieldTakesTurns) {
  std::string order;
  Run([&] {
    for (char c : {'a', 'b'}) {
      Spawn([&order, c] {
        order += c;
        this_thread::Yield();
        order += c;
      });
    }
  });
  EXPECT_EQ(order, "abab");
}

TEST_F(UserThreadTest, WakeBeforeParkIsRemembered) {
  Run([&] {
    UserThread::Current()->Wake();
    EXPECT_EQ(this_thread::Park(), ParkResult::kWoken);
    EXPECT_EQ(this_thread::Park(this_thread::Now() + milliseconds(1)), ParkResult::kDeadline);
  });
}

// The timer of an earlier park serves later ones.
TEST_F(UserThreadTest, EveryParkEndsAtItsOwnDeadline) {
  Run([&] {
    const TimePoint begin = this_thread::Now();
    const auto park_until = [&](Duration after) {
      EXPECT_EQ(this_thread::Park(begin + after), ParkResult::kDeadline);
      EXPECT_GE(this_thread::Now(), begin + after);
    };
    UserThread::Current()->Wake();
    EXPECT_EQ(this_thread::Park(begin + milliseconds(4)), ParkResult::kWoken);
    const ThreadRef self(UserThread::Current());
    Spawn([self] { self->Wake(); });
    EXPECT_EQ(this_thread::Park(begin + milliseconds(4)), ParkResult::kWoken);
    park_until(milliseconds(8));  // later than the timer
    Spawn([self] { self->Wake(); });
    EXPECT_EQ(this_thread::Park(begin + std::chrono::hours(1)), ParkResult::kWoken);
    park_until(milliseconds(12));  // earlier than the timer
    EXPECT_LT(this_thread::Now(), begin + std::chrono::minutes(30));
    park_until(milliseconds(2));  // passed
  });
}

// A park without a deadline is not ended by the timer of an earlier one, nor is a later thread by
// that of an earlier thread.
TEST_F(UserThreadTest, ATimerThatIsLeftOverEndsNoPark) {
  Run([&] {
    const auto park_with_timer = [&](Duration after) {
      const ThreadRef self(UserThread::Current());
      Spawn([self] { self->Wake(); });
      EXPECT_EQ(this_thread::Park(this_thread::Now() + after), ParkResult::kWoken);
    };
    for (int i = 0; i < 3; ++i) {
      ParkResult result = ParkResult::kStopping;
      bool woken = false;
      const ThreadRef waiter = Spawn([&] {
        park_with_timer(milliseconds(2));
        result = this_thread::Park();
        EXPECT_TRUE(woken);
      });
      this_thread::SleepFor(milliseconds(5));
      woken = true;
      waiter->Wake();
      EXPECT_EQ(scheduler_->Join(*waiter.get(), kNever), ParkResult::kWoken);
      EXPECT_EQ(result, ParkResult::kWoken);
    }
  });
}

TEST_F(UserThreadTest, ManyThreadsThatEndLeaveNothingBehind) {
  auto held = std::make_shared<int>(0);
  Run([&] {
    for (size_t i = 0; i < 4 * kSpareThreadCountMax; ++i) {
      Spawn([held] { (void)this_thread::Park(this_thread::Now() + milliseconds(1)); });
    }
    EXPECT_EQ(held.use_count(), 1 + 4 * static_cast<long>(kSpareThreadCountMax));
  });
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(UserThreadTest, JoinWaitsForTheEnd) {
  Run([&] {
    bool ended = false;
    const ThreadRef thread = Spawn([&] {
      this_thread::SleepFor(milliseconds(2));
      ended = true;
    });
    EXPECT_EQ(scheduler_->Join(*thread.get(), kNever), ParkResult::kWoken);
    EXPECT_TRUE(ended);
  });
}

TEST_F(UserThreadTest, ErrnoAndCaughtExceptionsBelongToTheThread) {
  std::string caught;
  Run([&] {
    for (int i = 1; i <= 2; ++i) {
      Spawn([&caught, i] {
        errno = i;
        try {
          throw std::runtime_error(std::to_string(i));
        } catch (const std::exception&) {
          this_thread::Yield();  // the other thread throws and catches here
          try {
            throw;
          } catch (const std::exception& again) {
            caught += again.what();
          }
        }
        EXPECT_EQ(errno, i);
      });
    }
  });
  EXPECT_EQ(caught, "12");
}

TEST_F(UserThreadTest, StopEndsEveryParkAndRefusesNewThreads) {
  Run([&] {
    ParkResult result = ParkResult::kWoken;
    const ThreadRef parked = Spawn([&] { result = this_thread::Park(); });
    this_thread::Yield();
    scheduler_->Stop();
    EXPECT_EQ(scheduler_->Spawn([] {}).status().code(), StatusCode::kCancelled);
    while (scheduler_->live_count() > 1) this_thread::Yield();
    EXPECT_EQ(result, ParkResult::kStopping);
  });
}

TEST_F(UserThreadTest, OneThreadOverTheLimitIsRefused) {
  Run(
      [&] {
        Spawn([] {});
        EXPECT_EQ(scheduler_->Spawn([] {}).status().code(), StatusCode::kResourceExhausted);
      },
      {.thread_count_max = 2});
}

TEST_F(UserThreadTest, TheLocaleBelongsToTheThread) {
  const locale_t own = newlocale(LC_ALL_MASK, "C", nullptr);
  Run([&] {
    Spawn([&] {
      EXPECT_EQ(uselocale(nullptr), LC_GLOBAL_LOCALE);
      uselocale(own);
      this_thread::Yield();
      EXPECT_EQ(uselocale(nullptr), own);
    });
    Spawn([&] {
      EXPECT_EQ(uselocale(nullptr), LC_GLOBAL_LOCALE) << "the locale of a new thread";
      this_thread::Yield();
      EXPECT_EQ(uselocale(nullptr), LC_GLOBAL_LOCALE);
    });
    Spawn([&] { uselocale(own); });  // freed when the thread ends
    loop_->Post(
        [] { EXPECT_EQ(uselocale(nullptr), LC_GLOBAL_LOCALE) << "the locale of event handlers"; });
  });
  freelocale(own);
}

TEST_F(UserThreadTest, AThreadSpecificValueIsEndedOnItsThread) {
  static const UserThread* ended_on = nullptr;
  static int ended_value = 0;
  static const ThreadSpecificKey key([](void* value) {
    ended_on = UserThread::Current();
    ended_value = *static_cast<int*>(value);
  });
  int value = 7;
  const UserThread* owner = nullptr;
  Run([&] {
    Spawn([&] {
      owner = UserThread::Current();
      key.Set(&value);
      this_thread::Yield();
      EXPECT_EQ(ended_value, 0);
    });
    Spawn([&] { EXPECT_EQ(key.Get(), nullptr); });
  });
  EXPECT_EQ(ended_on, owner);
  EXPECT_EQ(ended_value, 7);
}

TEST_F(UserThreadTest, ThreadSpecificValuesAreSeparate) {
  static const ThreadSpecific<int> slot;
  Run([&] {
    int own = 1;
    slot.set(&own);
    Spawn([] {
      EXPECT_EQ(slot.get(), nullptr);
      int other = 2;
      slot.set(&other);
      this_thread::Yield();
      EXPECT_EQ(slot.get(), &other);
    });
    this_thread::Yield();
    EXPECT_EQ(slot.get(), &own);
  });
}

TEST_F(UserThreadTest, ThreadRunInPlaceHasNoStateOfAnEarlierOne) {
  static const ThreadSpecific<int> slot;
  Notification finished;
  loop_->Post([&] {
    ThreadScheduler scheduler(*loop_);
    const auto leave_traces = [] {
      int own = 1;
      slot.set(&own);
      errno = EBUSY;
      UserThread::Current()->Wake();
    };
    const auto find_none = [] {
      EXPECT_EQ(slot.get(), nullptr);
      EXPECT_EQ(errno, 0);
      EXPECT_EQ(this_thread::Park(this_thread::Now()), ParkResult::kDeadline);
    };
    EXPECT_FALSE(*scheduler.RunInPlace(leave_traces)) << "it has finished";
    EXPECT_FALSE(*scheduler.RunInPlace(find_none));
    finished.Notify();
  });
  finished.WaitForNotification();
}

TEST_F(UserThreadTest, RunsOnTheCallersStackAndReportsWhenItHasLeft) {
  std::vector<char> memory(64 * 1024);
  const Stack stack{memory.data(), memory.size(), false};
  bool ran_there = false;
  bool left = false;
  Run([&] {
    const auto body = [&] {
      char local = 0;
      char* volatile place = &local;
      ran_there = place >= stack.low && place < stack.top();
      this_thread::Yield();
      EXPECT_FALSE(left);
    };
    ASSERT_TRUE(ThreadScheduler::Current()
                    ->SpawnOn(stack, body,
                              [&] {
                                EXPECT_EQ(UserThread::Current(), nullptr);
                                left = true;
                              })
                    .ok());
  });
  EXPECT_TRUE(ran_there);
  EXPECT_TRUE(left);
}

TEST_F(UserThreadTest, MutexIsHandedOverInOrder) {
  std::string order;
  ThreadMutex mutex;
  Run([&] {
    mutex.Lock();
    for (char c : {'a', 'b', 'c'}) {
      Spawn([&, c] {
        ThreadLock lock(&mutex);
        order += c;
        this_thread::Yield();
      });
    }
    this_thread::Yield();
    EXPECT_FALSE(mutex.TryLock());
    mutex.Unlock();
    while (scheduler_->live_count() > 1) this_thread::Yield();
  });
  EXPECT_EQ(order, "abc");
}

TEST_F(UserThreadTest, MutexExcludesThreadsOfDifferentLoops) {
  constexpr int kRounds = 2000;
  ThreadMutex mutex;
  int64_t shared = 0;
  Loop* const other = *world_->StartLoop({.name = "other"});
  Notification other_finished;
  std::unique_ptr<ThreadScheduler> other_scheduler;
  const auto add = [&] {
    for (int i = 0; i < kRounds; ++i) {
      ThreadLock lock(&mutex);
      const int64_t seen = shared;
      if (i % 64 == 0) this_thread::Yield();
      shared = seen + 1;
    }
  };
  other->Post([&] {
    other_scheduler = std::make_unique<ThreadScheduler>(*other);
    ASSERT_TRUE(other_scheduler
                    ->Spawn([&] {
                      add();
                      other_finished.Notify();
                    })
                    .ok());
  });
  Run(add);
  other_finished.WaitForNotification();
  EXPECT_EQ(shared, 2 * kRounds);
  world_->Stop();
}

TEST_F(UserThreadTest, ConditionWakesTheWaiterAndTimesOut) {
  Run([&] {
    ThreadMutex mutex;
    ThreadCondition condition;
    bool ready = false;
    Spawn([&] {
      ThreadLock lock(&mutex);
      ready = true;
      condition.NotifyOne();
    });
    ThreadLock lock(&mutex);
    while (!ready) condition.Wait(mutex);
    EXPECT_EQ(condition.Wait(mutex, this_thread::Now() + milliseconds(1)), ParkResult::kDeadline);
  });
}

TEST_F(UserThreadTest, EventSetByAnotherKernelThreadWakesTheWaiter) {
  Loop* const other = *world_->StartLoop({.name = "other"});
  Run([&] {
    for (int i = 0; i < 200; ++i) {
      OneShotEvent event;
      other->Post([&event] { event.Set(); });
      EXPECT_EQ(event.Wait(), ParkResult::kWoken);
    }
  });
}

TEST_F(UserThreadTest, ManyParkedThreadsAllWake) {
#ifdef __SANITIZE_THREAD__
  constexpr size_t kThreadCount = 2000;  // ThreadSanitizer supports about 8,000 threads at once
#else
  constexpr size_t kThreadCount = 10000;
#endif
  size_t woken = 0;
  Run([&] {
    std::vector<ThreadRef> parked;
    for (size_t i = 0; i < kThreadCount; ++i) {
      parked.push_back(Spawn([&] {
        this_thread::Park();
        ++woken;
      }));
    }
    this_thread::Yield();
    for (const ThreadRef& thread : parked) thread->Wake();
  });
  EXPECT_EQ(woken, kThreadCount);
}

TEST_F(UserThreadTest, ConsumeTakesTheTimeItSays) {
  Run([&] {
    const TimePoint begin = this_thread::Now();
    this_thread::Consume(world_->processors(), milliseconds(2));
    EXPECT_GE(this_thread::Now() - begin, milliseconds(2));
  });
}

TEST(UserThreadDeathTest, ParkingWithALeafMutexHeldIsABug) {
  const auto park_holding_lock = [] {
    auto world = MakeRealWorld({});
    Loop* loop = *world->StartLoop({.name = "test"});
    Notification never;
    loop->Post([loop] {
      auto* scheduler = new ThreadScheduler(*loop);
      (void)scheduler->Spawn([] {
        LeafMutex mutex;
        LeafLock lock(&mutex);
        this_thread::Park();
      });
    });
    never.WaitForNotification();
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(park_holding_lock(), "LeafMutex");
}

}  // namespace
}  // namespace neptune
