#include "frontend/caching/seen_requests.h"

#include <xxhash.h>

#include <initializer_list>
#include <string_view>
#include <utility>

namespace search::frontend {
namespace {

// Bytes that no header and no target contains.
constexpr char kSeparator = '\n';

}  // namespace

size_t SeenRequests::SizeOf(const Entry& entry) {
  return kSeenOverhead + entry.parts.size() + entry.seen.page.key.size() +
         entry.seen.client.name.size();
}

uint64_t SeenRequests::TakeParts(const PageAsk& ask) {
  parts_.clear();
  for (const std::string_view part :
       {ask.target, ask.host, ask.accept, ask.accept_encoding, ask.api_key, ask.service_class}) {
    parts_.append(part);
    parts_ += kSeparator;
  }
  return XXH3_64bits_withSeed(parts_.data(), parts_.size(), options_.hash_seed);
}

const SeenRequest* SeenRequests::Find(const PageAsk& ask) {
  const uint64_t hash = TakeParts(ask);
  const auto newer = newer_.entries.find(hash);
  if (newer != newer_.entries.end()) {
    return newer->second.parts == parts_ ? &newer->second.seen : nullptr;
  }
  const auto older = older_.entries.find(hash);
  if (older == older_.entries.end() || older->second.parts != parts_) return nullptr;
  Entry entry = std::move(older->second);
  older_.size -= SizeOf(entry);
  older_.entries.erase(older);
  Add(hash, std::move(entry));
  return &newer_.entries.find(hash)->second.seen;
}

void SeenRequests::Remember(const PageAsk& ask, SeenRequest seen) {
  const uint64_t hash = TakeParts(ask);
  Entry entry{.parts = parts_, .seen = std::move(seen)};
  if (SizeOf(entry) > options_.entry_size_max || SizeOf(entry) > options_.size_max / 2) return;
  if (const auto older = older_.entries.find(hash); older != older_.entries.end()) {
    older_.size -= SizeOf(older->second);
    older_.entries.erase(older);
  }
  Add(hash, std::move(entry));
}

void SeenRequests::Add(uint64_t hash, Entry entry) {
  const size_t size = SizeOf(entry);
  if (newer_.size + size > options_.size_max / 2) {
    older_ = std::exchange(newer_, {});
  }
  Entry& place = newer_.entries[hash];
  if (!place.parts.empty()) newer_.size -= SizeOf(place);
  place = std::move(entry);
  newer_.size += size;
}

}  // namespace search::frontend
