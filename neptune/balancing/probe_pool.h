// The modern policy: a pool of load reports that arrive beside the calls, so that no call waits for one.
//
//        answers of calls (load index piggybacked)      probes, one a call, answered some time later
//                         └───────────────┬──────────────────────────┘
//                                         ▼
//                 pool: the newest report of each server, at most kReportCountMax
//                                         │ a call takes the report with the lowest cost out
//                                         ▼
//      cost = (load + calls sent since + 1.5 age / service time + 1) * relative service time ^ 1/2
//             + a penalty for failures of late, beyond twice those of all servers, with their square
//
// A report serves one call: the next caller of this loop must not run after the same server, and what several loops
// hear of one server they hear at different times. That is what keeps them from flocking.
//
// Sinks. A server that fails at once would look idle: its failures are a penalty that fades in seconds, small for one
// that fails now and then and larger than any queue for one that always does.
// A server whose requests hang says in its answers how long it has finished nothing (`silence`), and is left alone
// while that is long; so is one that has not answered our own calls for as long. A server that just joined is an
// unknown one until it was probed; then its report serves one call as any other.
//
// Source: Prequal (NSDI 2024: probes beside the calls, reports used once or a few times, requests in flight as the
//   signal); join-idle-queue for the report as a token; [Shen02] 3.3 for the load index.
// Departs from source: no hot and cold half and no latency estimate. Requests in flight times the root of the
//   relative service time served better in every case that we simulated, and needs no quantile; reports also come
//   with answers, so that one probe a call is enough (Prequal: 3).
// No I/O, no clock, no threads; LoopClient feeds it.
// Threads: thread-compatible; one for each partition that a loop calls.
// Units: load index = active + queued requests; times are TimePoint.
// Limits: kReportCountMax reports, kDepartedCountMax servers that left; Choose is O(kReportCountMax) for any number of servers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "neptune/balancing/load_report.h"
#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace neptune {

inline constexpr size_t kReportCountMax = 16;
inline constexpr size_t kDepartedCountMax = 64;

struct ProbePoolOptions {
  // Most probes sent for each call. Larger: fresher reports, more datagrams. Default: 1.5, three datagrams a call;
  // a second one gains 1 % of the mean response time for coarse services and nothing for fine ones.
  double probes_per_call_max = 1.5;
  // A service gets one probe a call for each of these in its service time, so that probes cost a busy server little
  // of its time. Default: 500 us, fifty times what a probe takes a server.
  Duration service_time_per_probe = std::chrono::microseconds(500);
  // What a report's age costs, in requests for each mean service time. Smaller: many callers run after the same
  // server; larger: only the newest reports count. Default: 1.5; flat between 1 and 2.
  double age_cost = 1.5;
  // Between calls that are far apart probes go on, so that the newest report is never older than about a fifth of
  // the service time, and not oftener than this. Default: 5 ms: a service that is faster is not refreshed.
  Duration refresh_interval_min = std::chrono::milliseconds(5);
  // A report older than this is forgotten. Default: 5 s, as membership.
  Duration age_max = std::chrono::seconds(5);
  // A server that finished nothing for this many mean service times, and for silence_min, is left alone.
  // Default: 20, far above what an exponential service shows (e^-20), and 50 ms.
  double silence_service_times = 20;
  Duration silence_min = std::chrono::milliseconds(50);
  // What a server that always fails costs more than others, in requests. Default: 100, more than any queue.
  double failure_cost = 100;
  // In which half of a failure is forgotten. Default: 2 s.
  Duration failure_half_life = std::chrono::seconds(2);
};

class ProbePool {
 public:
  explicit ProbePool(const ProbePoolOptions& options = {}) : options_(options) {}

  // The servers from now on, in ascending order; indices below are into this list. What is known of those that stay
  // is kept, and of those that left lately too, for they may come back.
  void SetServers(const std::vector<NodeId>& servers);
  // Names a server for as long as it stays, however the list changes.
  using ServerId = uint32_t;
  ServerId id(size_t server) const { return servers_[server].id; }
  // Where that server is now; nullopt if it left.
  std::optional<size_t> Find(ServerId id) const;
  size_t server_count() const { return servers_.size(); }

  // The server to call now. `excluded` are left out (ascending; not all servers). Counts as sent: OnAnswer or
  // OnLost follows.
  // REQUIRES: there is a server.
  size_t Choose(TimePoint now, std::span<const size_t> excluded, RandomSource& random);
  // Servers to probe after this call; some calls ask for none, some for several.
  std::vector<size_t> ChooseProbes(RandomSource& random);

  // Between calls: when to look whether a refresh is wanted; nullopt: not at all, until the next call.
  std::optional<Duration> RefreshInterval(TimePoint now) const;
  bool WantsRefresh(TimePoint now) const;

  // A probe was answered.
  void OnReport(size_t server, const LoadReport& report, TimePoint now);
  // A call was answered: with the load index that came with it, and whether the server did its work.
  void OnAnswer(size_t server, uint32_t load_index, Duration run_time, bool worked, TimePoint now);
  // A call will have no answer: cancelled, expired (a failure) or the connection broke.
  void OnLost(size_t server, bool failed, TimePoint now);

  // Mean time in which a server does one request, as far as known.
  Duration service_time() const { return Duration(static_cast<int64_t>(service_time_ns_)); }
  size_t report_count() const { return reports_.size(); }

 private:
  struct Server {
    NodeId node;
    ServerId id = 0;
    uint32_t load_index = 0;   // as last reported
    uint32_t sent_since = 0;   // calls of ours since then
    uint32_t outstanding = 0;  // calls of ours without an answer
    TimePoint reported_at{};
    TimePoint heard_at{};  // last answer to a call; or when the first of those outstanding was sent
    bool silent = false;   // as it last said itself
    double run_time_ns = 0;  // decayed mean; 0: unknown
    double failures = 0;     // decayed share, as of failed_at
    TimePoint failed_at{};
    bool in_pool = false;
  };

  double Cost(const Server& server, TimePoint now) const;
  double FailureShare(const Server& server, TimePoint now) const;
  bool Silent(const Server& server, TimePoint now) const;
  Duration SilenceLimit() const;
  void AddReport(size_t server, uint32_t load_index, TimePoint now);
  void Remove(size_t server);
  Server Recall(const NodeId& node);
  void CountFailure(Server& server, bool failed, TimePoint now);
  size_t ChooseWithoutReport(TimePoint now, std::span<const size_t> excluded, RandomSource& random);

  const ProbePoolOptions options_;
  std::vector<Server> servers_;
  std::vector<Server> departed_;  // the last kDepartedCountMax
  std::unordered_map<ServerId, size_t> index_of_;
  ServerId next_id_ = 1;
  std::vector<size_t> reports_;  // servers whose last report has not served a call
  std::vector<size_t> round_;    // servers still to be probed in this round
  TimePoint last_call_{};
  double probe_credit_ = 0;
  double service_time_ns_ = 0;
  double failure_share_ = 0;  // decayed, of all servers' answers
};

}  // namespace neptune
