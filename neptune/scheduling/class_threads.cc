#include "neptune/scheduling/class_threads.h"

#include "neptune/base/strings.h"

namespace neptune {

Status CheckThreadShares(const ThreadShares& shares, size_t class_count) {
  if (shares.all == 0) return InvalidArgument("the number of threads is 0");
  if (shares.all > kConcurrencyMax) {
    return InvalidArgument(shares.all, " threads, limit ", kConcurrencyMax);
  }
  if (shares.own.size() > class_count) {
    return InvalidArgument("threads for ", shares.own.size(), " classes, but only ", class_count,
                           " exist");
  }
  size_t own_count = 0;
  size_t owned = 0;
  for (const std::optional<size_t>& own : shares.own) {
    if (!own) continue;
    if (*own == 0) return InvalidArgument("a class reserves 0 threads");
    if (*own > shares.all - owned) {
      return InvalidArgument("the classes reserve more than all ", shares.all, " threads");
    }
    ++own_count;
    owned += *own;
  }
  if (own_count < class_count && owned == shares.all) {
    return InvalidArgument("the reservations leave none of the ", shares.all,
                           " threads for the other classes");
  }
  return OkStatus();
}

ClassThreads::ClassThreads(const ThreadShares& shares, size_t class_count)
    : busy_of_(class_count, 0) {
  SetShares(shares);
}

void ClassThreads::SetShares(const ThreadShares& shares) {
  shares_ = shares;
  shares_.own.resize(busy_of_.size());
  shared_ = shares_.all;
  busy_shared_ = 0;
  for (size_t number = 0; number < busy_of_.size(); ++number) {
    if (shares_.own[number]) {
      shared_ -= *shares_.own[number];
    } else {
      busy_shared_ += busy_of_[number];
    }
  }
}

void ClassThreads::Take(ClassNumber number) {
  ++busy_;
  ++busy_of_[number];
  if (!shares_.own[number]) ++busy_shared_;
}

void ClassThreads::Free(ClassNumber number) {
  --busy_;
  --busy_of_[number];
  if (!shares_.own[number]) --busy_shared_;
}

}  // namespace neptune
