// How often one client may ask: a token bucket for each, so that one that asks without end does not take the others' turn.
//
// A bucket holds `burst` tokens and gets `per_second` of them back; each request takes one.
//
// Token bucket.
// No I/O, no clock.
// Threads: thread-safe.
// Units: requests, and per second.
// Limits: client_count_max buckets. Full ones are forgotten for new ones, which loses nothing; when none is full, further
//   clients share one bucket, so that a flood from many addresses is bounded too.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

struct RateLimitOptions {
  // Requests a second that one client may go on sending. Larger: one client may take more. Default: 0, any number.
  double per_second = 0;
  // Requests at once after a pause. Default: 0, what comes in two seconds and at least one.
  double burst = 0;
  // Clients that are told apart. Default: 65,536, about 4 MiB.
  size_t client_count_max = 65536;
};

class RateLimit {
 public:
  explicit RateLimit(const RateLimitOptions& options);

  // Takes a token of the client's bucket; else the time until there is one.
  std::optional<neptune::Duration> Refuse(uint64_t client, neptune::TimePoint now);
  bool limits() const { return options_.per_second > 0; }
  size_t client_count() const;

 private:
  struct Bucket {
    double tokens = 0;
    neptune::TimePoint at;
  };
  Bucket& BucketOf(uint64_t client, neptune::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetFull(neptune::TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double TokensAt(const Bucket& bucket, neptune::TimePoint now) const;

  const RateLimitOptions options_;
  mutable neptune::LeafMutex mutex_;
  absl::flat_hash_map<uint64_t, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  Bucket shared_ ABSL_GUARDED_BY(mutex_);
  neptune::TimePoint next_forget_ ABSL_GUARDED_BY(mutex_);
};

// Who asks: the holder of the API key if somebody has it, else the address. With `trusts_forwarded` the address is the
// last one of X-Forwarded-For, which a proxy that all requests come through has put there.
uint64_t ClientOf(const neptune::HttpRequest& request, bool has_known_key, bool trusts_forwarded);

}  // namespace search::frontend
