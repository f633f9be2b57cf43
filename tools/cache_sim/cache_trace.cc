#include "tools/cache_sim/cache_trace.h"

#include <xxhash.h>

namespace search::tools {
namespace {

uint64_t HashOf(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

}  // namespace

bool CacheTrace::Add(uint64_t time_us, std::string_view key, cache::EntryWeight weight) {
  if (request_count() == kRequestCountMax) return false;
  const auto next_number = static_cast<uint32_t>(key_count());
  const auto [place, is_new] = number_by_hash_.try_emplace(HashOf(key), next_number);
  if (is_new) {
    if (key_count() == kKeyCountMax) return false;
    weights_.push_back(weight);
  } else if (cache::EntryWeight& known = weights_[place->second]; known.size == 0) {
    known = weight;
  }
  has_costs_ = has_costs_ || weight.cost_us > 0;
  keys_.push_back(place->second);
  times_us_.push_back(time_us);
  return true;
}

cache::EntryWeight CacheTrace::KnownWeight(std::string_view key) const {
  const auto found = number_by_hash_.find(HashOf(key));
  return found == number_by_hash_.end() ? cache::EntryWeight() : weights_[found->second];
}

uint64_t CacheTrace::DistinctSize(uint64_t overhead) const {
  uint64_t size = 0;
  for (const cache::EntryWeight& weight : weights_) size += weight.size + overhead;
  return size;
}

void CacheTrace::MakeSizesOne() {
  for (cache::EntryWeight& weight : weights_) weight.size = 1;
}

std::vector<uint32_t> CacheTrace::NextUses() const {
  std::vector<uint32_t> next_uses(keys_.size(), kNever);
  std::vector<uint32_t> next_of_key(weights_.size(), kNever);
  for (size_t request = keys_.size(); request-- > 0;) {
    uint32_t& next = next_of_key[keys_[request]];
    next_uses[request] = next;
    next = static_cast<uint32_t>(request);
  }
  return next_uses;
}

}  // namespace search::tools
