// Which page answers a request, and whose request it is, for requests that were answered before:
// found by the parts that decide it, as they were sent, so that none of them is read again.
//
//   target, Host, Accept, Accept-Encoding, X-Api-Key, Neptune-Service-Class ─► key of the page, class
//
// All of that follows from these parts alone, so what is remembered stays true; whether the page is
// still there and valid is decided by others.
//
// Two generations: what is found in the older one moves to the newer one; when the newer one has
// half of the room, the older one is forgotten and they change places.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Limits: SeenRequestsOptions; what is larger than an entry may be is not remembered.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "frontend/caching/page_cache.h"
#include "frontend/caching/page_key.h"
#include "frontend/model/client_class.h"

namespace search::frontend {

struct SeenRequestsOptions {
  // Bytes; an entry counts those of its texts and kSeenOverhead. Larger: more requests are answered
  // without being parsed.
  size_t size_max = 4u << 20;
  size_t entry_size_max = 4096;
  // A secret seed keeps clients from choosing requests that collide.
  uint64_t hash_seed = 0;
};

// Bytes accounted for an entry in addition to its texts.
inline constexpr size_t kSeenOverhead = 256;

struct SeenRequest {
  PageName page;
  ClientClass client;
};

class SeenRequests {
 public:
  explicit SeenRequests(const SeenRequestsOptions& options) : options_(options) {}

  // Null: no such request is remembered. Valid until the next call. REQUIRES: !ask.repeats_header.
  const SeenRequest* Find(const PageAsk& ask);
  // REQUIRES: !ask.repeats_header.
  void Remember(const PageAsk& ask, SeenRequest seen);

  size_t size() const { return newer_.size + older_.size; }
  size_t count() const { return newer_.entries.size() + older_.entries.size(); }

 private:
  struct Entry {
    std::string parts;
    SeenRequest seen;
  };
  struct Generation {
    absl::flat_hash_map<uint64_t, Entry> entries;
    size_t size = 0;
  };

  static size_t SizeOf(const Entry& entry);
  // Writes the parts of the request to parts_ and returns their hash.
  uint64_t TakeParts(const PageAsk& ask);
  void Add(uint64_t hash, Entry entry);

  const SeenRequestsOptions options_;
  Generation newer_;
  Generation older_;
  std::string parts_;  // of the request at hand
};

}  // namespace search::frontend
