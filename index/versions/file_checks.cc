#include "index/versions/file_checks.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace search::index {

using neptune::Duration;
using neptune::LeafLock;
using neptune::TimePoint;

std::shared_ptr<FileChecks> FileChecks::Start(neptune::Loop& loop, Duration interval,
                                              std::function<std::vector<Place>()> places) {
  std::shared_ptr<FileChecks> checks(new FileChecks(loop, interval, std::move(places)));
  loop.Post([checks] {
    checks->RunAt(checks->loop_.Now() + std::min<Duration>(checks->interval_, kFileCheckFirst));
  });
  return checks;
}

void FileChecks::Stop() {
  LeafLock lock(&mutex_);
  has_stopped_ = true;
  list_ = nullptr;
  places_.clear();
  check_ = nullptr;
}

FileChecks::Standing FileChecks::standing() const {
  LeafLock lock(&standing_mutex_);
  return standing_;
}

void FileChecks::RunAt(TimePoint when) {
  loop_.RunAt(when, [self = shared_from_this()] { self->Turn(); });
}

void FileChecks::Turn() {
  LeafLock lock(&mutex_);
  if (has_stopped_) return;
  const TimePoint now = loop_.Now();
  if (places_.empty()) {
    began_at_ = now;
    std::vector<Place> listed = list_();
    places_.assign(std::make_move_iterator(listed.begin()), std::make_move_iterator(listed.end()));
  }
  const size_t size = places_.empty() ? 0 : ReadPart();
  const uint64_t wait_ns = uint64_t{1'000'000'000} * size / kFileCheckBytesPerSecond;
  const TimePoint next = now + std::chrono::nanoseconds(static_cast<int64_t>(wait_ns));
  const bool has_ended = places_.empty();
  {
    LeafLock standing(&standing_mutex_);
    standing_.checked_size += size;
    standing_.pass_count += has_ended ? 1 : 0;
  }
  RunAt(has_ended ? std::max(next, began_at_ + interval_) : next);
}

size_t FileChecks::ReadPart() {
  if (check_ == nullptr) check_ = places_.front().start();
  const neptune::StatusOr<size_t> read =
      check_ == nullptr ? neptune::StatusOr<size_t>(size_t{0}) : check_(kFileCheckPartSize);
  if (read.ok() && *read > 0) return *read;
  check_ = nullptr;
  const Place place = std::move(places_.front());
  places_.pop_front();
  if (read.ok()) return 0;
  {
    LeafLock lock(&standing_mutex_);
    ++standing_.damage_count;
  }
  place.on_damage(read.status());
  return 0;
}

}  // namespace search::index
