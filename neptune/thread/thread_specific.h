// Values that belong to one user-level thread, as pthread_getspecific gives for kernel threads.
//
// Source: dependency capsules 5.A.
// Layer: thread.
// Threads: Get and Set on a user-level thread; keys are made at start-up and never taken back.
// Limits: kThreadSpecificKeyCountMax keys a process. Values are not destroyed with the thread: the
//   maker of a value owns it.

#pragma once

namespace neptune {

inline constexpr int kThreadSpecificKeyCountMax = 128;

class ThreadSpecificKey {
 public:
  ThreadSpecificKey();
  void* Get() const;
  void Set(void* value) const;

 private:
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
