// pthread keys have a value per user-level thread, and destructors run when a thread ends.

#include <gtest/gtest.h>
#include <pthread.h>

#include <thread>

#include "neptune/interpose/user_threads.h"

namespace neptune::interpose {
namespace {

TEST(KeyValuesTest, EachUserLevelThreadHasItsOwn) {
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, nullptr), 0);
  UserThreads threads;
  int values[2];
  const auto body = [&](int index) {
    EXPECT_EQ(pthread_getspecific(key), nullptr);
    EXPECT_EQ(pthread_setspecific(key, &values[index]), 0);
    this_thread::Yield();
    EXPECT_EQ(pthread_getspecific(key), &values[index]);
  };
  threads.Run({[&] { body(0); }, [&] { body(1); }});
  threads.OnLoop(0, [&] { EXPECT_EQ(pthread_getspecific(key), nullptr) << "the kernel thread's"; });
  ASSERT_EQ(pthread_key_delete(key), 0);
}

TEST(KeyValuesTest, DestructorsRunOnTheirThreadUntilNothingIsLeft) {
  static pthread_key_t key;
  static int destroyed_count = 0;
  static const UserThread* destroyed_on = nullptr;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* value) {
                                 destroyed_on = UserThread::Current();
                                 if (++destroyed_count == 1) pthread_setspecific(key, value);
                               }),
            0);
  UserThreads threads;
  const UserThread* owner = nullptr;
  threads.Run({[&] {
    owner = UserThread::Current();
    EXPECT_EQ(pthread_setspecific(key, &threads), 0);
  }});
  threads.OnLoop(0, [] {});
  EXPECT_EQ(destroyed_count, 2) << "again for the value that the first one set";
  EXPECT_EQ(destroyed_on, owner);
  ASSERT_EQ(pthread_key_delete(key), 0);
}

TEST(KeyValuesTest, ARecreatedKeyHasNoValues) {
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, nullptr), 0);
  UserThreads threads;
  threads.Run({[&] {
    EXPECT_EQ(pthread_setspecific(key, &key), 0);
    ASSERT_EQ(pthread_key_delete(key), 0);
    pthread_key_t next;
    ASSERT_EQ(pthread_key_create(&next, nullptr), 0);
    EXPECT_EQ(pthread_getspecific(next), nullptr);
    EXPECT_EQ(pthread_key_delete(next), 0);
    EXPECT_EQ(pthread_setspecific(PTHREAD_KEYS_MAX, &key), EINVAL);
  }});
}

TEST(KeyValuesTest, KernelThreadsAreLeftAlone) {
  static std::atomic<int> destroyed_count{0};
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { ++destroyed_count; }), 0);
  std::thread([&] { EXPECT_EQ(pthread_setspecific(key, &key), 0); }).join();
  EXPECT_EQ(destroyed_count, 1);
  ASSERT_EQ(pthread_key_delete(key), 0);
}

}  // namespace
}  // namespace neptune::interpose
