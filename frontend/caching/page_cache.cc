#include "frontend/caching/page_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace search::frontend {

PageCache::PageCache(const PageCacheOptions& options)
    : options_(options), policy_(options.size_max) {}

uint64_t PageCache::HashOf(std::string_view key) const {
  return XXH3_64bits_withSeed(key.data(), key.size(), options_.hash_seed);
}

const CachedPage* PageCache::Find(std::string_view key) {
  const uint64_t hash = HashOf(key);
  const auto found = entries_.find(hash);
  if (found == entries_.end() || found->second.key != key) return nullptr;
  policy_.Touch(hash);
  ++found->second.use_count;
  return &found->second.page;
}

const CachedPage* PageCache::Look(const PageName& name) const {
  const auto found = entries_.find(name.hash);
  return found == entries_.end() || found->second.key != name.key ? nullptr : &found->second.page;
}

void PageCache::NoteUse(const PageName& name) {
  const auto found = entries_.find(name.hash);
  if (found == entries_.end() || found->second.key != name.key) return;
  policy_.Touch(name.hash);
  ++found->second.use_count;
}

PageName PageCache::NameOf(std::string key) const {
  const uint64_t hash = HashOf(key);
  return {.key = std::move(key), .hash = hash};
}

bool PageCache::Insert(std::string_view key, CachedPage page) {
  const uint64_t hash = HashOf(key);
  const size_t size = key.size() + page.head.begin.size() + page.head.end.size() +
                      page.body->size() + kPageOverhead;
  if (key.size() > options_.key_size_max || size > options_.page_size_max ||
      size > options_.size_max) {
    EraseHash(hash);
    return false;
  }
  evicted_.clear();
  const bool is_admitted = policy_.Insert(hash, {.size = size}, &evicted_);
  for (const uint64_t other : evicted_) entries_.erase(other);
  if (!is_admitted) {
    EraseHash(hash);
    return false;
  }
  Entry& entry = entries_[hash];
  if (entry.key != key) entry.use_count = 0;
  entry.key = key;
  entry.page = std::move(page);
  stats_.eviction_count.fetch_add(evicted_.size(), std::memory_order_relaxed);
  ShowStats();
  return true;
}

void PageCache::Erase(std::string_view key) {
  const uint64_t hash = HashOf(key);
  const auto found = entries_.find(hash);
  if (found != entries_.end() && found->second.key == key) EraseHash(hash);
}

void PageCache::EraseHash(uint64_t hash) {
  policy_.Remove(hash);
  entries_.erase(hash);
  ShowStats();
}

std::vector<CountedQuestion> PageCache::TakeHottest(size_t count) {
  std::vector<CountedQuestion> hottest;
  hottest.reserve(entries_.size());
  for (auto& [hash, entry] : entries_) {
    if (entry.use_count > 0) hottest.push_back({entry.page.facts.question, entry.use_count});
    entry.use_count /= 2;
  }
  const auto is_hotter = [](const CountedQuestion& a, const CountedQuestion& b) {
    return a.use_count != b.use_count ? a.use_count > b.use_count
                                      : a.question.query < b.question.query;
  };
  const size_t taken = std::min(count, hottest.size());
  std::partial_sort(hottest.begin(), hottest.begin() + static_cast<ptrdiff_t>(taken), hottest.end(),
                    is_hotter);
  hottest.resize(taken);
  return hottest;
}

void PageCache::ShowStats() {
  stats_.size.store(policy_.size(), std::memory_order_relaxed);
  stats_.page_count.store(policy_.entry_count(), std::memory_order_relaxed);
}

}  // namespace search::frontend
