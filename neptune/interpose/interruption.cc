#include "neptune/interpose/interruption.h"

#include <atomic>

namespace neptune::interpose {
namespace {

std::atomic<InterruptionSource> interruption_source{nullptr};

}  // namespace

void SetInterruptionSource(InterruptionSource source) {
  interruption_source.store(source, std::memory_order_release);
}

Interruption ConsumeInterruption() {
  const InterruptionSource source = interruption_source.load(std::memory_order_acquire);
  return source == nullptr ? Interruption::kNone : source();
}

}  // namespace neptune::interpose
