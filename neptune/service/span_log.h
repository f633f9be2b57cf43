// Ring buffer of the latest spans of sampled traces on one node.
//
// A call records two spans, one at the caller and one at the server. The server's span is a child
// of the caller's, and calls that a method makes on behalf of its request are children of the
// server's span.
//
// Source: W3C Trace Context (identities).
// Threads: thread-safe.
// Limits: kSpanCountMax spans; a new span replaces the oldest.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/base/time.h"
#include "neptune/wire/trace_context.h"

namespace neptune {

inline constexpr size_t kSpanCountMax = 1024;

enum class SpanKind { kCaller, kServer };

struct Span {
  TraceContext context;  // of this span
  uint64_t parent = 0;   // parent span; 0: root of the trace
  SpanKind kind = SpanKind::kCaller;
  std::string what;  // "service/partition.method"
  std::string peer;  // kCaller only: the node that answered
  WallTime end;
  Duration duration{0};
  Duration queue_time{0};  // part of `duration` before the method began
  StatusCode outcome = StatusCode::kOk;
};

class SpanLog {
 public:
  // Also passes every span to `sink`, which must be thread-safe and must not wait.
  // REQUIRES: called at most once, before the first span.
  void SetSink(std::function<void(const Span&)> sink) { sink_ = std::move(sink); }

  void Record(Span span);
  // Returns the spans from oldest to latest.
  std::vector<Span> Snapshot() const;
  // Appends a table of the spans, latest first.
  void Describe(StatusReport* report) const;

 private:
  std::function<void(const Span&)> sink_;
  mutable LeafMutex mutex_;
  std::vector<Span> spans_ ABSL_GUARDED_BY(mutex_);
  uint64_t recorded_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace neptune
