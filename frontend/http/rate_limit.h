// Limits the request rate of each client with a token bucket, so that one client cannot crowd out
// the others.
//
// A bucket holds up to `burst` tokens and is refilled with `per_second` tokens a second; each
// request takes one.
//
// No I/O, no clock.
// Threads: thread-safe.
// Units: requests, and per second.
// Limits: client_count_max buckets. Full buckets are dropped to make room for new clients, which
//   loses no information; if no bucket is full, further clients share one bucket, which bounds a
//   flood from many addresses too.

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
  // Sustained requests a second of one client. Larger: one client may take more. Default: 0, no
  // limit.
  double per_second = 0;
  // Requests at once after a pause. Default: 0, the tokens of two seconds but at least one.
  double burst = 0;
  // Number of clients with a bucket of their own. Default: 65,536, about 4 MiB.
  size_t client_count_max = 65536;
};

class RateLimit {
 public:
  explicit RateLimit(const RateLimitOptions& options);

  // Takes a token from the client's bucket. If there is none, returns the time until there is one.
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

// What a request says about its client.
struct ClientMarks {
  std::string_view api_key;  // X-Api-Key
  bool has_known_key = false;
  std::string_view forwarded_for;  // X-Forwarded-For
  uint32_t address = 0;
};

// Identity of the client: its API key if the key is known, else its address. With
// `trusts_forwarded` the address is the last one of X-Forwarded-For, set by the proxy that all
// requests pass through.
uint64_t ClientOf(const ClientMarks& marks, bool trusts_forwarded);
uint64_t ClientOf(const neptune::HttpRequest& request, bool has_known_key, bool trusts_forwarded);

}  // namespace search::frontend
