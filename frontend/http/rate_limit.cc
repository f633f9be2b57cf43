#include "frontend/http/rate_limit.h"

#include <algorithm>
#include <chrono>

#include "absl/hash/hash.h"

namespace search::frontend {

using neptune::Duration;
using neptune::TimePoint;

namespace {

// The search for full buckets visits all buckets, so it runs at most once per interval.
constexpr Duration kForgetInterval = std::chrono::seconds(1);

RateLimitOptions WithBurst(RateLimitOptions options) {
  if (options.burst <= 0) options.burst = std::max(1.0, 2 * options.per_second);
  return options;
}

double SecondsOf(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

RateLimit::RateLimit(const RateLimitOptions& options) : options_(WithBurst(options)) {
  shared_.tokens = options_.burst;
}

double RateLimit::TokensAt(const Bucket& bucket, TimePoint now) const {
  const double passed = std::max(0.0, SecondsOf(now - bucket.at));
  return std::min(options_.burst, bucket.tokens + passed * options_.per_second);
}

std::optional<Duration> RateLimit::Refuse(uint64_t client, TimePoint now) {
  if (!limits()) return std::nullopt;
  neptune::LeafLock lock(&mutex_);
  Bucket& bucket = BucketOf(client, now);
  bucket.tokens = TokensAt(bucket, now);
  bucket.at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::nullopt;
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>((1 - bucket.tokens) / options_.per_second));
}

RateLimit::Bucket& RateLimit::BucketOf(uint64_t client, TimePoint now) {
  const auto found = buckets_.find(client);
  if (found != buckets_.end()) return found->second;
  if (buckets_.size() >= options_.client_count_max && now >= next_forget_) ForgetFull(now);
  if (buckets_.size() >= options_.client_count_max) return shared_;
  return buckets_.emplace(client, Bucket{options_.burst, now}).first->second;
}

void RateLimit::ForgetFull(TimePoint now) {
  next_forget_ = now + kForgetInterval;
  absl::erase_if(buckets_,
                 [&](const auto& item) { return TokensAt(item.second, now) >= options_.burst; });
}

size_t RateLimit::client_count() const {
  neptune::LeafLock lock(&mutex_);
  return buckets_.size();
}

uint64_t ClientOf(const ClientMarks& marks, bool trusts_forwarded) {
  if (marks.has_known_key) return absl::HashOf('k', marks.api_key);
  if (!trusts_forwarded || marks.forwarded_for.empty()) return absl::HashOf('a', marks.address);
  std::string_view last = marks.forwarded_for.substr(marks.forwarded_for.rfind(',') + 1);
  last.remove_prefix(std::min(last.size(), last.find_first_not_of(' ')));
  return absl::HashOf('f', last);
}

uint64_t ClientOf(const neptune::HttpRequest& request, bool has_known_key, bool trusts_forwarded) {
  return ClientOf({.api_key = request.headers.Get("X-Api-Key"),
                   .has_known_key = has_known_key,
                   .forwarded_for = request.headers.Get("X-Forwarded-For"),
                   .address = request.peer.address},
                  trusts_forwarded);
}

}  // namespace search::frontend
