#include "cache/eviction/registry.h"

#include <string>

#include "cache/eviction/arc.h"
#include "cache/eviction/gdsf.h"
#include "cache/eviction/lfu.h"
#include "cache/eviction/lru.h"
#include "cache/eviction/s3_fifo.h"
#include "cache/eviction/w_tiny_lfu.h"
#include "neptune/base/strings.h"

namespace search::cache {
namespace {

using Made = std::unique_ptr<EvictionPolicy>;

Made MakeArc(uint64_t size_max) { return std::make_unique<Arc>(size_max); }
Made MakeLru(uint64_t size_max) { return std::make_unique<Lru>(size_max); }
Made MakeS3Fifo(uint64_t size_max) { return std::make_unique<S3Fifo>(size_max); }
Made MakeWTinyLfu(uint64_t size_max) {
  return std::make_unique<WTinyLfu>(size_max, WTinyLfuOptions{});
}
Made MakeAdaptiveWTinyLfu(uint64_t size_max) {
  return std::make_unique<WTinyLfu>(size_max, WTinyLfuOptions{.adapts_window = true});
}
Made MakeCostlyWTinyLfu(uint64_t size_max) {
  return std::make_unique<WTinyLfu>(size_max, WTinyLfuOptions{.weighs_cost = true});
}

}  // namespace

std::span<const EvictionPolicyVariant> RegisteredEvictionPolicies() {
  static constexpr EvictionPolicyVariant kVariants[] = {
      {.name = "arc", .make = &MakeArc, .resists_scans = true},
      {.name = "gdsf", .make = &MakeGdsf, .resists_scans = true, .weighs_cost = true},
      {.name = "lfu", .make = &MakeLfu, .resists_scans = true},
      {.name = "lru", .make = &MakeLru},
      {.name = "s3_fifo", .make = &MakeS3Fifo, .resists_scans = true},
      {.name = "w_tiny_lfu", .make = &MakeWTinyLfu, .resists_scans = true},
      {.name = "w_tiny_lfu_adaptive", .make = &MakeAdaptiveWTinyLfu, .resists_scans = true},
      {.name = "w_tiny_lfu_cost",
       .make = &MakeCostlyWTinyLfu,
       .resists_scans = true,
       .weighs_cost = true},
  };
  return kVariants;
}

neptune::StatusOr<EvictionPolicyVariant> FindEvictionPolicy(std::string_view name) {
  std::string known;
  for (const EvictionPolicyVariant& variant : RegisteredEvictionPolicies()) {
    if (variant.name == name) return variant;
    neptune::StrAppend(&known, known.empty() ? "" : ", ", variant.name);
  }
  return neptune::InvalidArgument("unknown eviction policy '", name, "'; known: ", known);
}

}  // namespace search::cache
