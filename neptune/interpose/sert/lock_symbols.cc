// Locks: a request is not ended while it holds one; the last unlock is a check.

#include <pthread.h>

#include "neptune/interpose/sert/next.h"

namespace neptune::sert {
namespace {

// `result` is the result of a lock call; 0 means that the lock is held.
int Locked(int result) {
  RequestRecord* const record = accounting_record;
  if (record != nullptr && result == 0) record->lock_count = record->lock_count + 1;
  return result;
}

// A lock that was acquired before the request does not count.
void Unlocked(const void* caller) {
  RequestRecord* const record = accounting_record;
  if (record == nullptr || record->lock_count == 0) return;
  record->lock_count = record->lock_count - 1;
  if (record->armed != 0) TerminateAtCheck(record, caller);
}

}  // namespace
}  // namespace neptune::sert

using neptune::sert::accounting_record;
using neptune::sert::Locked;
using neptune::sert::Region;
using neptune::sert::Unlocked;

// Uses a Region, so the request is not ended between locking and counting.
#define NEPTUNE_LOCK(name, parameters, arguments)            \
  NEPTUNE_SERT_SYMBOL int name parameters noexcept {         \
    static neptune::sert::Next<int parameters> next(#name);  \
    if (accounting_record == nullptr) return next arguments; \
    const Region region(accounting_record, nullptr);         \
    return Locked(next arguments);                           \
  }
#define NEPTUNE_UNLOCK(name, parameters, arguments)         \
  NEPTUNE_SERT_SYMBOL int name parameters noexcept {        \
    static neptune::sert::Next<int parameters> next(#name); \
    const int result = next arguments;                      \
    if (result == 0) Unlocked(__builtin_return_address(0)); \
    return result;                                          \
  }

NEPTUNE_LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
NEPTUNE_LOCK(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
NEPTUNE_LOCK(pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until),
             (mutex, until))
NEPTUNE_LOCK(pthread_mutex_clocklock,
             (pthread_mutex_t * mutex, clockid_t clock, const timespec* until),
             (mutex, clock, until))
NEPTUNE_UNLOCK(pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))
NEPTUNE_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const timespec* until),
             (lock, until))
NEPTUNE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const timespec* until),
             (lock, until))
NEPTUNE_UNLOCK(pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
NEPTUNE_LOCK(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock))
NEPTUNE_UNLOCK(pthread_spin_unlock, (pthread_spinlock_t * lock), (lock))
