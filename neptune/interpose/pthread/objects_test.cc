// POSIX objects used concurrently by user-level threads of two kernel threads and a plain thread,
// for sanitizers, which do not work with the preload library. The conformance programs test the
// results.

#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>

#include <functional>

#include "neptune/interpose/user_threads.h"

extern "C" {
int neptune_pthread_mutex_lock(pthread_mutex_t* mutex);
int neptune_pthread_mutex_unlock(pthread_mutex_t* mutex);
int neptune_pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex);
int neptune_pthread_cond_broadcast(pthread_cond_t* condition);
int neptune_pthread_rwlock_rdlock(pthread_rwlock_t* lock);
int neptune_pthread_rwlock_wrlock(pthread_rwlock_t* lock);
int neptune_pthread_rwlock_unlock(pthread_rwlock_t* lock);
int neptune_pthread_barrier_wait(pthread_barrier_t* barrier);
int neptune_pthread_once(pthread_once_t* once, void (*routine)());
int neptune_sem_wait(sem_t* semaphore);
int neptune_sem_post(sem_t* semaphore);
int neptune_sched_yield();
}

namespace neptune::interpose {
namespace {

constexpr int kThreadCount = 6;  // besides the plain one

class ObjectsTest : public testing::Test {
 protected:
  // Runs `body` on all threads, the number of each as its argument.
  void RunEverywhere(const std::function<void(int)>& body) {
    for (int i = 0; i < kThreadCount; ++i) {
      threads_.Start(i % 2, [&body, i] { body(i); });
    }
    body(kThreadCount);
    threads_.Wait();
  }

  UserThreads threads_{2};
};

TEST_F(ObjectsTest, AMutexExcludesBothKindsOfThreads) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  int counter = 0;
  RunEverywhere([&](int number) {
    for (int i = 0; i < 500; ++i) {
      neptune_pthread_mutex_lock(&mutex);
      ++counter;
      if (i % 8 == number) neptune_sched_yield();
      neptune_pthread_mutex_unlock(&mutex);
    }
  });
  EXPECT_EQ(counter, 500 * (kThreadCount + 1));
}

TEST_F(ObjectsTest, AConditionPassesATurnRound) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int turn = 0;
  RunEverywhere([&](int number) {
    for (int round = 0; round < 50; ++round) {
      neptune_pthread_mutex_lock(&mutex);
      while (turn % (kThreadCount + 1) != number) neptune_pthread_cond_wait(&changed, &mutex);
      ++turn;
      neptune_pthread_cond_broadcast(&changed);
      neptune_pthread_mutex_unlock(&mutex);
    }
  });
  EXPECT_EQ(turn, 50 * (kThreadCount + 1));
}

TEST_F(ObjectsTest, AReadWriteLockShowsReadersWholeWrites) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  int one = 0;
  int other = 0;
  std::atomic<int> torn_count{0};
  RunEverywhere([&](int number) {
    for (int i = 0; i < 300; ++i) {
      if (i % 5 == 0) {
        neptune_pthread_rwlock_wrlock(&lock);
        ++one;
        if (i % 3 == 0) neptune_sched_yield();
        ++other;
      } else {
        neptune_pthread_rwlock_rdlock(&lock);
        if (one != other) ++torn_count;
        if (i % 7 == number) neptune_sched_yield();
      }
      neptune_pthread_rwlock_unlock(&lock);
    }
  });
  EXPECT_EQ(torn_count, 0);
  EXPECT_EQ(one, 60 * (kThreadCount + 1));
}

TEST_F(ObjectsTest, ASemaphoreLetsInAsManyAsItSays) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 2);
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  RunEverywhere([&](int) {
    for (int i = 0; i < 300; ++i) {
      neptune_sem_wait(&semaphore);
      if (++inside > 2) ++too_many;
      if (i % 4 == 0) neptune_sched_yield();
      --inside;
      neptune_sem_post(&semaphore);
    }
  });
  EXPECT_EQ(too_many, 0);
}

TEST_F(ObjectsTest, ABarrierHasOneSerialThreadARound) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kThreadCount + 1);
  std::atomic<int> serial_count{0};
  RunEverywhere([&](int) {
    for (int i = 0; i < 100; ++i) {
      if (neptune_pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial_count;
    }
  });
  EXPECT_EQ(serial_count, 100);
}

int once_count = 0;

TEST_F(ObjectsTest, OnceIsOnce) {
  pthread_once_t once = PTHREAD_ONCE_INIT;
  std::atomic<int> seen{0};
  RunEverywhere([&](int) {
    neptune_pthread_once(&once, [] {
      neptune_sched_yield();
      ++once_count;
    });
    seen += once_count;
  });
  EXPECT_EQ(seen, kThreadCount + 1);
}

}  // namespace
}  // namespace neptune::interpose
