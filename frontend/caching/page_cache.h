// The pages that one serving loop repeats: rendered bodies, found by what asks for them.
//
//   Find ──hash──► table of pages ── found: counted by the policy and in the page's uses
//   Insert ──────► S3-FIFO evicts: a page that is not asked for again leaves first
//
// Each serving loop has its own, so that a repetition writes nothing that another loop reads. A
// page is held by each loop that is asked for it.
//
// Source: cache/eviction/s3_fifo.h [Yang23]; two uses of the small queue promote a page, so a scan
//   of rare questions does not evict the popular ones.
// No I/O, no clock.
// Threads: thread-compatible; `stats` from any thread.
// Units: bytes; a page counts kPageOverhead besides its key, head and body.
// Limits: PageCacheOptions. A page over its limit is refused, and an older one of its key is
//   removed.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/eviction/s3_fifo.h"
#include "frontend/caching/cached_page.h"

namespace search::frontend {

// Bytes accounted for a page in addition to its key, head and body: headers, coverage, tables.
inline constexpr size_t kPageOverhead = 2048;

struct PageCacheOptions {
  // Larger: more pages are repeated instead of rendered.
  size_t size_max = 32u << 20;
  // Larger: one unusual page may evict many others. Default: thirty times a usual page.
  size_t page_size_max = 256u << 10;
  size_t key_size_max = 4096;
  // A secret seed keeps clients from choosing requests that collide.
  uint64_t hash_seed = 0;
};

// Current values; read by any thread.
struct PageCacheStats {
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> page_count{0};
  std::atomic<uint64_t> eviction_count{0};
};

// The name of a page, with its hash for one cache.
struct PageName {
  std::string key;
  uint64_t hash = 0;
};

// A question and how often its page was repeated lately.
struct CountedQuestion {
  SearchPageRequest question;
  uint64_t use_count = 0;
};

class PageCache {
 public:
  explicit PageCache(const PageCacheOptions& options);

  // Null: there is no such page. Counts a use. Valid until the next change.
  const CachedPage* Find(std::string_view key);
  // The same in two steps, for a name made by NameOf: a page, and that it was used.
  const CachedPage* Look(const PageName& name) const;
  void NoteUse(const PageName& name);
  PageName NameOf(std::string key) const;
  // Replaces another page of the key; false: refused.
  bool Insert(std::string_view key, CachedPage page);
  void Erase(std::string_view key);

  // The `count` questions whose pages were used most, most first, and halves all counts of uses, so
  // that those of long ago fade.
  std::vector<CountedQuestion> TakeHottest(size_t count);

  const PageCacheStats& stats() const { return stats_; }

 private:
  struct Entry {
    std::string key;
    CachedPage page;
    uint64_t use_count = 0;
  };

  uint64_t HashOf(std::string_view key) const;
  void EraseHash(uint64_t hash);
  void ShowStats();

  const PageCacheOptions options_;
  cache::S3Fifo policy_;
  absl::flat_hash_map<uint64_t, Entry> entries_;
  std::vector<uint64_t> evicted_;  // of one insertion
  PageCacheStats stats_;
};

}  // namespace search::frontend
