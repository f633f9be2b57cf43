#include "neptune/scheduling/expected_yield.h"

#include <algorithm>
#include <cmath>

namespace neptune {
namespace {

// The last 35 requests have half of the weight.
constexpr double kWeight = 0.02;
// Relative change of the mean at which the table is recomputed.
constexpr double kTolerance = 0.05;

// Gauss-Laguerre quadrature with three nodes: the mean of f(x) over an exponential x with mean 1.
struct Node {
  double at;
  double weight;
};
constexpr std::array<Node, 3> kNodes = {{{0.4157745567834791, 0.7110930099291730},
                                         {2.2942803602790417, 0.2785177335692409},
                                         {6.2899450829374792, 0.0103892565015861}}};

}  // namespace

ExpectedYield::ExpectedYield(const std::optional<YieldFunction>& yield)
    : yield_(yield), served_ns_(kWeight) {
  table_.fill(1);
  FillTable();
}

void ExpectedYield::OnServed(Duration served_for) {
  served_ns_.Add(static_cast<double>(std::max(served_for, Duration(0)).count()));
  if (std::abs(served_ns_.value() - table_mean_ns_) > kTolerance * table_mean_ns_) FillTable();
}

void ExpectedYield::FillTable() {
  if (!yield_) return;
  table_mean_ns_ = served_ns_.value();
  const double step_ns = static_cast<double>(yield_->deadline().count()) / kTableSize;
  steps_per_ns_ = 1 / step_ns;
  for (size_t step = 0; step <= kTableSize; ++step) {
    double mean = 0;
    for (const Node& node : kNodes) {
      const double response_ns = static_cast<double>(step) * step_ns + node.at * table_mean_ns_;
      mean += node.weight * yield_->At(Duration(static_cast<int64_t>(response_ns)));
    }
    table_[step] = mean;
  }
}

}  // namespace neptune
