// The latest spans of sampled traces on one node: what was called, by whom, how long it waited and ran.
//
// A call leaves two spans, one at the caller and one at the server; the server's is a child of the caller's,
// and what a method calls on behalf of its request is a child of the server's.
//
// Source: W3C Trace Context (identities); the rest is ours.
// Threads: thread-safe. An unsampled call never comes here.
// Limits: kSpanCountMax spans; a new one takes the place of the oldest.

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
  TraceContext context;  // its own
  uint64_t parent = 0;   // span; 0: it began the trace
  SpanKind kind = SpanKind::kCaller;
  std::string what;  // "service/partition.method"
  std::string peer;  // of a caller's span: the node that answered
  WallTime end;
  Duration duration{0};
  Duration queue_time{0};  // of duration, before the method began
  StatusCode outcome = StatusCode::kOk;
};

class SpanLog {
 public:
  // Every span from now on goes there too; thread-safe, and does not wait. Before the first one, once.
  void SetSink(std::function<void(const Span&)> sink) { sink_ = std::move(sink); }

  void Record(Span span);
  // From the oldest to the latest.
  std::vector<Span> Snapshot() const;
  // A table for people, the latest first.
  void Describe(StatusReport* report) const;

 private:
  std::function<void(const Span&)> sink_;
  mutable LeafMutex mutex_;
  std::vector<Span> spans_ ABSL_GUARDED_BY(mutex_);
  uint64_t recorded_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace neptune
