#include "neptune/dac/aggregation_progress.h"

#include <algorithm>
#include <iterator>

namespace neptune {

void AggregationProgress::Expect(bool local) {
  ++(local ? locals_outstanding_ : children_outstanding_);
}

void AggregationProgress::Settle(bool local, std::optional<Data> result,
                                 std::vector<PartitionId> contributing) {
  if (closed()) return;
  --(local ? locals_outstanding_ : children_outstanding_);
  if (result) ready_.push_back({*std::move(result), std::move(contributing)});
}

void AggregationProgress::Miss(std::vector<MissingPartition> missing) {
  std::move(missing.begin(), missing.end(), std::back_inserter(missing_));
}

std::optional<AggregationProgress::Reduction> AggregationProgress::NextReduction() {
  if (closed() || reducing_ || ready_.size() < 2) return std::nullopt;
  Partial first = std::move(ready_[0]);
  Partial second = std::move(ready_[1]);
  ready_.erase(ready_.begin(), ready_.begin() + 2);
  reducing_ = std::move(first.contributing);
  reducing_->insert(reducing_->end(), second.contributing.begin(), second.contributing.end());
  ++reduction_count_;
  return Reduction{std::move(first.result), std::move(second.result)};
}

void AggregationProgress::Reduced(StatusOr<Data> combined) {
  std::vector<PartitionId> contributing = *std::exchange(reducing_, std::nullopt);
  if (!combined.ok()) return Fail(combined.status());
  ready_.push_front({*std::move(combined), std::move(contributing)});
  if (expired_) KeepLargest();
}

void AggregationProgress::Fail(const Status& error) {
  if (reduce_error_.ok()) reduce_error_ = error;
}

void AggregationProgress::Expire() {
  if (closed()) return;
  expired_ = true;
  if (!reducing_) KeepLargest();
}

void AggregationProgress::KeepLargest() {
  const auto smaller = [](const Partial& a, const Partial& b) {
    return a.contributing.size() < b.contributing.size();
  };
  const auto largest = std::max_element(ready_.begin(), ready_.end(), smaller);
  for (auto partial = ready_.begin(); partial != ready_.end(); ++partial) {
    if (partial == largest) continue;
    for (const PartitionId& partition : partial->contributing) {
      missing_.push_back(
          {partition, DeadlineExceeded("its result was not reduced by the deadline")});
    }
  }
  if (ready_.size() < 2) return;
  std::swap(ready_.front(), *largest);
  ready_.resize(1);
}

AggregationProgress::Phase AggregationProgress::phase() const {
  if (reducing_) return Phase::kWaiting;
  if (closed()) return Phase::kReady;
  if (locals_outstanding_ > 0) return Phase::kLocal;
  return children_outstanding_ > 0 || ready_.size() > 1 ? Phase::kWaiting : Phase::kReady;
}

AggregationProgress::Outcome AggregationProgress::ReleaseOutcome() {
  Outcome outcome{reduce_error_, {}, std::move(missing_), std::nullopt};
  if (ready_.empty() || !reduce_error_.ok()) return outcome;
  outcome.contributing = std::move(ready_.front().contributing);
  outcome.result = std::move(ready_.front().result);
  return outcome;
}

}  // namespace neptune
