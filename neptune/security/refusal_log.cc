#include "neptune/security/refusal_log.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

constexpr const char* kKindNames[kRefusalCount] = {"accepted", "made",   "late",
                                                   "datagram", "caller", "crowded"};

const char* NameOf(Refusal kind) { return kKindNames[static_cast<size_t>(kind)]; }

}  // namespace

Status RefusalLog::AddMetrics(MetricsRegistry& registry) {
  for (size_t kind = 0; kind < kRefusalCount; ++kind) {
    NEPTUNE_ASSIGN_OR_RETURN(
        counters_[kind],
        registry.AddCounter("neptune_security_refusals_total",
                            "Connections, datagrams and calls refused because of who sent them.",
                            {{"kind", kKindNames[kind]}}));
  }
  return OkStatus();
}

void RefusalLog::Note(Refusal kind, const Endpoint& peer, std::string_view why) {
  LOG_EVERY_T(WARNING, 1) << "security: " << NameOf(kind) << ", " << peer << ": " << why;
  if (Counter* const counter = counters_[static_cast<size_t>(kind)]) counter->Increment();
  LeafLock lock(&mutex_);
  ++counts_[static_cast<size_t>(kind)];
  Row row{kind, peer.address, std::string(why), 1};
  const auto same = std::find_if(rows_.begin(), rows_.end(), [&](const Row& known) {
    return known.kind == row.kind && known.address == row.address && known.why == row.why;
  });
  if (same != rows_.end()) {
    row.count += same->count;
    rows_.erase(same);
  }
  rows_.push_front(std::move(row));
  if (rows_.size() > kRefusalRowsMax) rows_.pop_back();
}

uint64_t RefusalLog::count(Refusal kind) const {
  LeafLock lock(&mutex_);
  return counts_[static_cast<size_t>(kind)];
}

void RefusalLog::Show(StatusReport* report) const {
  StatusTable table{
      "Refused connections and datagrams, latest first", {"kind", "peer", "why", "times"}, {}};
  LeafLock lock(&mutex_);
  for (const Row& row : rows_) {
    std::string peer = Endpoint{row.address, 0}.ToString();
    peer.resize(peer.rfind(':'));
    table.AddRow(NameOf(row.kind), peer, row.why, row.count);
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
