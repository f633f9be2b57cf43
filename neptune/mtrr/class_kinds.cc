#include "neptune/mtrr/class_kinds.h"

#include <algorithm>

namespace neptune {
namespace {

double Factor(double a, double b) { return std::max(a / b, b / a); }

double ThroughputFactor(const ClassKind& one, const ClassKind& other) {
  const int most = std::max(one.speedup.saturation_point(), other.speedup.saturation_point());
  double factor = 1;
  for (int threads = 1; threads <= most; ++threads) {
    factor = std::max(factor, Factor(one.service_rate * one.speedup.At(threads),
                                     other.service_rate * other.speedup.At(threads)));
  }
  return factor;
}

double ProcessorFactor(const ClassKind& one, const ClassKind& other) {
  if (!one.processor_s || !other.processor_s) return 1;
  // Requests that use no processor time cannot be compared by it.
  if (!(*one.processor_s > 0) || !(*other.processor_s > 0)) return 1;
  return Factor(*one.processor_s, *other.processor_s);
}

}  // namespace

std::vector<KindDifference> DifferentKinds(const std::vector<ClassKind>& classes,
                                           double factor_max) {
  std::vector<KindDifference> differences;
  for (size_t i = 0; i < classes.size(); ++i) {
    for (size_t j = i + 1; j < classes.size(); ++j) {
      const double throughput = ThroughputFactor(classes[i], classes[j]);
      const double processor = ProcessorFactor(classes[i], classes[j]);
      if (std::max(throughput, processor) <= factor_max) continue;
      const bool by_throughput = throughput >= processor;
      differences.push_back({classes[i].name, classes[j].name,
                             by_throughput ? "throughput" : "processor time",
                             by_throughput ? throughput : processor});
    }
  }
  return differences;
}

}  // namespace neptune
