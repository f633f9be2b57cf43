// Values for each user-level thread, like pthread_getspecific for kernel threads.
//
// Source: [Chu05] 5.A.
// Threads: Get and Set on a user-level thread; keys are created at start-up and never deleted.
// Limits: kThreadSpecificKeyCountMax keys a process. A value belongs to its creator and is not
//   destroyed with the thread unless its key has a destructor.

#pragma once

namespace neptune {

class UserThread;

inline constexpr int kThreadSpecificKeyCountMax = 128;

class ThreadSpecificKey {
 public:
  // `at_end` is called with each thread's non-null value, on that thread, after its body has
  // returned.
  explicit ThreadSpecificKey(void (*at_end)(void* value) = nullptr);
  void* Get() const;
  void Set(void* value) const;

 private:
  static void EndSpecific(UserThread& thread);

  int index_;
};

// A typed key: one pointer for each user-level thread, initially null.
template <typename T>
class ThreadSpecific {
 public:
  T* get() const { return static_cast<T*>(key_.Get()); }
  void set(T* value) const { key_.Set(value); }

 private:
  ThreadSpecificKey key_;
};

}  // namespace neptune
