#include "tools/capacity/capacity_search.h"

#include <algorithm>
#include <cmath>

namespace search::tools {

CapacitySearch::CapacitySearch(const CapacityOptions& options)
    : options_(options), next_(options.rate_start) {}

void CapacitySearch::Record(bool met) {
  const double rate = *next_;
  ++trial_count_;
  if (met_in_a_row_ > 0 || candidate_untried_) {
    RecordWhileConfirming(met);
  } else {
    (met ? met_ : failed_) = rate;
    Choose();
  }
  if (trial_count_ >= kTrialCountMax) next_.reset();
}

// Bisects between two rates, or extrapolates while only one bound is known.
void CapacitySearch::Choose() {
  if (!failed_) {
    at_rate_max_ = *met_ >= options_.rate_max;
    if (at_rate_max_) return BeginConfirming();
    next_ = std::min(*met_ * 2, options_.rate_max);
  } else if (!met_) {
    if (*failed_ <= options_.rate_min) return next_.reset();
    next_ = std::max(*failed_ / 2, options_.rate_min);
  } else if (*failed_ / *met_ <= 1 + options_.precision) {
    BeginConfirming();
  } else {
    next_ = std::sqrt(*met_ * *failed_);
  }
}

void CapacitySearch::BeginConfirming() {
  next_ = met_;
  met_in_a_row_ = 1;
  if (met_in_a_row_ < options_.confirmations) return;
  capacity_ = met_;
  next_.reset();
}

void CapacitySearch::RecordWhileConfirming(bool met) {
  const double rate = *next_;
  if (met) {
    candidate_untried_ = false;
    if (++met_in_a_row_ < options_.confirmations) return;
    capacity_ = rate;
    next_.reset();
    return;
  }
  at_rate_max_ = false;
  met_in_a_row_ = 0;
  candidate_untried_ = true;
  next_ = rate / (1 + options_.precision);
  if (*next_ < options_.rate_min) next_.reset();
}

}  // namespace search::tools
