// Values that belong to one user-level thread, as pthread_getspecific gives for kernel threads.
//
// Source: [Chu05] 5.A.
// Threads: Get and Set on a user-level thread; keys are made at start-up and never taken back.
// Limits: kThreadSpecificKeyCountMax keys a process. A value is not destroyed with the thread unless its key says how:
//   its maker owns it.

#pragma once

namespace neptune {

class UserThread;

inline constexpr int kThreadSpecificKeyCountMax = 128;

class ThreadSpecificKey {
 public:
  // `at_end` gets the value of each thread that has one, on that thread, when its body has returned.
  explicit ThreadSpecificKey(void (*at_end)(void* value) = nullptr);
  void* Get() const;
  void Set(void* value) const;

 private:
  static void EndSpecific(UserThread& thread);

  int index_;
};

// A typed view of a key: a pointer that each user-level thread has for itself, null at first.
template <typename T>
class ThreadSpecific {
 public:
  T* get() const { return static_cast<T*>(key_.Get()); }
  void set(T* value) const { key_.Set(value); }

 private:
  ThreadSpecificKey key_;
};

}  // namespace neptune
