#include "neptune/sert/termination_threshold.h"

#include <algorithm>
#include <cmath>

namespace neptune {

const char* FaultOf(const ThresholdOptions& options) {
  if (options.lower_bound <= Duration(0) || options.lower_bound > options.upper_bound) {
    return "the bounds must satisfy 0 < lower <= upper";
  }
  // Written so that the comparisons fail for NaN.
  if (!(options.low_watermark >= 0 && options.low_watermark < options.high_watermark &&
        options.high_watermark <= 1)) {
    return "the watermarks must satisfy 0 <= low < high <= 1";
  }
  if (!(options.alpha > 0) || std::isinf(options.alpha)) return "alpha must be above 0";
  if (options.window < Duration(kLossSliceCount)) return "the window is too short";
  return nullptr;
}

Duration ThresholdAt(const ThresholdOptions& options, double loss) {
  if (loss <= options.low_watermark) return options.upper_bound;
  if (loss >= options.high_watermark) return options.lower_bound;
  const double left =
      (options.high_watermark - loss) / (options.high_watermark - options.low_watermark);
  const auto range = static_cast<double>((options.upper_bound - options.lower_bound).count());
  return options.lower_bound + Duration(std::llround(std::pow(left, options.alpha) * range));
}

ThroughputLoss::ThroughputLoss(Duration window)
    : slice_time_(std::max<Duration>(window / kLossSliceCount, Duration(1))) {}

ThroughputLoss::Slice& ThroughputLoss::SliceAt(TimePoint now) {
  const int64_t number = now.time_since_epoch() / slice_time_;
  if (is_empty_) newest_ = number;
  is_empty_ = false;
  if (number > newest_) {
    const auto passed = static_cast<uint64_t>(number - newest_);
    for (uint64_t i = 1; i <= std::min<uint64_t>(passed, kLossSliceCount); ++i) {
      slices_[(static_cast<uint64_t>(newest_) + i) % kLossSliceCount] = {};
    }
    newest_ = number;
  }
  return slices_[static_cast<uint64_t>(newest_) % kLossSliceCount];
}

double ThroughputLoss::Share(TimePoint now) {
  SliceAt(now);
  uint64_t served = 0;
  uint64_t lost = 0;
  for (const Slice& slice : slices_) {
    served += slice.served;
    lost += slice.lost;
  }
  if (served + lost == 0) return 0;
  return static_cast<double>(lost) / static_cast<double>(served + lost);
}

}  // namespace neptune
