// What the bodies of requests hold in memory, over all connections of a server and all its loops:
// one budget, so that clients that post and stop cannot take the memory of the node.
//
//   connection ── Cover, as the body arrives ──► HttpBodyCharge ──► HttpBodyBudget
//                                                     ▲ refused for others: `refuse` is called
//
// A body that finds no room takes that of the greediest address, the one whose bodies hold most:
// its newest unfinished body is refused. If that is the address of the body itself, the body itself
// is refused. So a client that holds much does not keep others out.
//
// No I/O, no clock.
// Threads: HttpBodyBudget is thread-safe; a charge belongs to one thread at a time.
// Units: bytes of bodies. The strings that hold them may have room for twice as many.
// Limits: `size_max` bytes. Bodies up to kFreeSize are not charged; connections and the memory
//   budget of the node bound them. What is refused for others counts no longer, although its loop
//   drops it in its next turn only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"

namespace neptune {

class HttpBodyCharge;

class HttpBodyBudget {
 public:
  static constexpr size_t kFreeSize = 4 * 1024;
  // Charges are rounded up to it, so that few pieces of a body take the lock.
  static constexpr size_t kStep = 16 * 1024;

  // `used`: shows what is charged; null: nothing does.
  explicit HttpBodyBudget(size_t size_max, Gauge* used = nullptr)
      : size_max_(size_max), used_gauge_(used) {}
  HttpBodyBudget(const HttpBodyBudget&) = delete;
  HttpBodyBudget& operator=(const HttpBodyBudget&) = delete;

  size_t size_max() const { return size_max_; }
  size_t used() const;
  // Bodies that were refused in favour of those of other addresses.
  uint64_t refused_for_others_count() const;

 private:
  friend class HttpBodyCharge;

  struct Address {
    size_t size = 0;
    std::list<HttpBodyCharge*> unfinished{};  // the newest last
  };
  using Refusals = std::vector<std::function<void()>>;

  // True if `charge` holds `size` bytes now. Adds what the caller must call without the lock.
  bool Grow(HttpBodyCharge* charge, size_t size, Refusals* refusals);
  // Refuses the newest unfinished body of the greediest address; false: that is the address of
  // `charge`, with `more` bytes.
  bool RefuseGreediest(const HttpBodyCharge& charge, size_t more, Refusals* refusals)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Change(HttpBodyCharge* charge, size_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Forgets that the body is unfinished.
  void Unlist(HttpBodyCharge* charge) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Finish(HttpBodyCharge* charge);
  bool IsRefused(const HttpBodyCharge& charge) const;
  void Release(HttpBodyCharge* charge);

  const size_t size_max_;
  Gauge* const used_gauge_;
  mutable LeafMutex mutex_;
  size_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t refused_count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<uint32_t, Address> addresses_ ABSL_GUARDED_BY(mutex_);
  std::set<std::pair<size_t, uint32_t>> by_size_ ABSL_GUARDED_BY(mutex_);  // of addresses_
};

// What the body of one request is charged, from its first bytes to the end of its handler.
class HttpBodyCharge {
 public:
  // `refuse` is called once, on any thread and under no lock, if the body is refused for others.
  HttpBodyCharge(std::shared_ptr<HttpBodyBudget> budget, uint32_t address,
                 std::function<void()> refuse)
      : budget_(std::move(budget)), address_(address), refuse_(std::move(refuse)) {}
  ~HttpBodyCharge() { budget_->Release(this); }
  HttpBodyCharge(const HttpBodyCharge&) = delete;
  HttpBodyCharge& operator=(const HttpBodyCharge&) = delete;

  // The body has `size` bytes; false: it is refused.
  bool Cover(size_t size);
  // The body is complete, and is not refused for others any more; false: it was before.
  bool Finish() { return budget_->Finish(this); }
  bool IsRefused() const { return budget_->IsRefused(*this); }

 private:
  friend class HttpBodyBudget;

  const std::shared_ptr<HttpBodyBudget> budget_;
  const uint32_t address_;
  const std::function<void()> refuse_;
  size_t covered_ = 0;  // by the last call of Cover; its thread's own
  // The rest is the budget's, under its lock.
  size_t size_ = 0;
  bool refused_ = false;
  bool listed_ = false;
  std::list<HttpBodyCharge*>::iterator at_{};  // if listed_
};

}  // namespace neptune
