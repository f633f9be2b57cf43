// Counts repeated pages of one serving loop where searches are counted: metrics, classes, traces.
//
//   Add ─► up to kBatch pages ─► at the end of the loop's turn, or when full: all counted at once
//
// The counters are shared by all loops. A batch writes each of them several times in a row, so that
// a busy loop fetches their cache lines once for a batch instead of once for a page; a loop with
// one request a turn counts it at the end of that turn.
//
// Threads: the loop it was made on.
// Limits: kBatch pages.

#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "frontend/http/gateway_metrics.h"
#include "frontend/model/answer.h"
#include "frontend/model/client_class.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/time.h"

namespace search::frontend {

// One repetition of a page.
struct PageHit {
  PageFormat format = PageFormat::kHtml;
  neptune::ClassNumber service_class = 0;
  bool is_complete = true;
  bool is_stale = false;
  bool is_traced = false;  // the trace log has counted it
  neptune::Duration took{0};
};

class PageHits {
 public:
  static constexpr size_t kBatch = 64;

  // Both outlive this.
  PageHits(const GatewayMetrics& metrics, TraceLog& traces);
  ~PageHits();

  void Add(const PageHit& hit);
  // Counts what is pending.
  void Flush();

 private:
  void FlushSoon();

  const GatewayMetrics& metrics_;
  TraceLog& traces_;
  std::array<PageHit, kBatch> pending_;
  size_t pending_count_ = 0;
  bool flush_posted_ = false;
  const std::shared_ptr<PageHits*> alive_;  // null once destroyed; checked by the posted flush
};

}  // namespace search::frontend
