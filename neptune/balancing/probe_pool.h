// The default policy: a pool of load reports that arrive independently of the calls, so that no
// call waits for one.
//
//        answers of calls (load index piggybacked)      probes, one a call, answered a bit later
//                         └───────────────┬──────────────────────────┘
//                                         ▼
//                 pool: the newest report of each server, at most kReportCountMax
//                                         │ a call takes the report with the lowest cost out
//                                         ▼
//      cost = (load + calls sent since + 1.5 age / service time + 1) * relative service time ^ 1/2
//             + a penalty for recent failures beyond twice the average, growing with their square
//
// A report serves one call: the next caller of this loop must not pick the same server, and several
// loops hear of one server at different times. This prevents herding.
//
// Sinks. A server that fails immediately would look idle. Its failures are therefore a penalty that
// decays in seconds; it is small for a server that fails occasionally and larger than any queue for
// one that always fails. A server whose requests hang reports how long it has finished nothing
// (`silence`) and is avoided while that is long; so is one that has not answered our own calls for
// that time. A server that just joined is unknown until it has been probed; then its report serves
// one call like any other.
//
// Few servers. A call to many partitions prefers replicas on servers that it asks anyway: a message
// costs the processors of both ends more than a short request. Such a replica is chosen instead of
// the best report if its server is believed to have at most one request more, and neither hangs nor
// fails, and if requests are short, because a server serves those of one call one after the other.
//
// The own node. A call to a replica on the calling node costs no connection, and its load is known
// exactly. It is chosen instead of the best report if its load is at most what that server is
// believed to have, both times the root of the relative service time, and if it neither hangs nor
// fails. A node that gets more than its share of requests from outside is loaded more than the
// others, so it sends what it has too much to them.
//
// Source: Prequal ([Wydrowski24]: probes independent of the calls, reports used once or a few
//   times, requests in flight as the signal); join-idle-queue for the report as a token; [Shen02]
//   3.3 for the load index.
// Departs from source: no hot and cold half and no latency estimate. Requests in flight times the
//   root of the relative service time did better in every case we simulated and needs no quantile.
//   Reports also come with answers, so one probe a call is enough (Prequal: 3).
// No I/O, no clock, no threads; LoopClient feeds it.
// Threads: thread-compatible; one for each partition that a loop calls.
// Units: load index = active + queued requests; times are TimePoint.
// Limits: kReportCountMax reports, kDepartedCountMax servers that left; Choose is
//   O(kReportCountMax) for any number of servers.

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
  // Maximum probes sent for each call. Larger: fresher reports, more datagrams. Default: 1.5, three
  // datagrams a call; a second probe gains 1 % of the mean response time for coarse services and
  // nothing for fine ones.
  double probes_per_call_max = 1.5;
  // A service gets one probe a call for each such interval in its service time, so that probes take
  // little of a busy server's time. Default: 500 us, fifty times the cost of a probe to a server.
  Duration service_time_per_probe = std::chrono::microseconds(500);
  // Cost of a report's age, in requests for each mean service time. Smaller: many callers herd to
  // the same server; larger: only the newest reports count. Default: 1.5; results are flat between
  // 1 and 2.
  double age_cost = 1.5;
  // Minimum interval of probes between calls that are far apart. They keep the newest report
  // younger than about a fifth of the service time. Default: 5 ms; faster services are not
  // refreshed.
  Duration refresh_interval_min = std::chrono::milliseconds(5);
  // Reports older than this are dropped. Default: 5 s, as in membership.
  Duration age_max = std::chrono::seconds(5);
  // A server is avoided if it has finished nothing for this many mean service times and for
  // silence_min. Default: 20, far above what an exponential service shows (e^-20), and 50 ms.
  double silence_service_times = 20;
  Duration silence_min = std::chrono::milliseconds(50);
  // Cost of a server that always fails compared with others, in requests. Default: 100, more than
  // any queue.
  double failure_cost = 100;
  // Half-life of recorded failures. Default: 2 s.
  Duration failure_half_life = std::chrono::seconds(2);
  // Partitions of one call share a server while the mean service time is at most this. Larger:
  // fewer messages, but longer calls while servers are idle. Default: 5 ms, less than a user
  // notices.
  Duration shared_service_time_max = std::chrono::milliseconds(5);
};

class ProbePool {
 public:
  explicit ProbePool(const ProbePoolOptions& options = {}) : options_(options) {}

  // Sets the servers, in ascending order; indices below refer to this list. State of servers that
  // stay is kept, and so is that of recently departed ones, since they may return.
  void SetServers(const std::vector<NodeId>& servers);
  // Identifies a server while it stays, however the list changes.
  using ServerId = uint32_t;
  ServerId id(size_t server) const { return servers_[server].id; }
  // Current index of the server; nullopt if it left.
  std::optional<size_t> Find(ServerId id) const;
  size_t server_count() const { return servers_.size(); }

  // The server that is the calling node, and its current load.
  struct Local {
    size_t server = 0;
    uint32_t load_index = 0;
  };
  // What speaks for servers besides their loads.
  struct Wishes {
    std::optional<Local> local = std::nullopt;
    std::span<const size_t> preferred = {};  // servers that cost the caller fewer messages
  };
  // Returns the server to call, none of `excluded` (ascending; not all servers). Counts as sent:
  // OnAnswer or OnLost must follow. REQUIRES: there is a server; `local` is not excluded.
  size_t Choose(TimePoint now, std::span<const size_t> excluded, RandomSource& random,
                const Wishes& wishes);
  size_t Choose(TimePoint now, std::span<const size_t> excluded, RandomSource& random) {
    return Choose(now, excluded, random, Wishes());
  }
  // Returns the servers to probe after this choice, which is that share of a call; possibly none or
  // several.
  std::vector<size_t> ChooseProbes(RandomSource& random, double call_share = 1);

  // Between calls: when to check WantsRefresh; nullopt: not until the next call.
  std::optional<Duration> RefreshInterval(TimePoint now) const;
  bool WantsRefresh(TimePoint now) const;

  // Records the answer to a probe.
  void OnReport(size_t server, const LoadReport& report, TimePoint now);
  // Records the answer to a call: its piggybacked load index, and whether the server did its work.
  void OnAnswer(size_t server, uint32_t load_index, Duration run_time, bool worked, TimePoint now);
  // Records a call without an answer: cancelled, expired (a failure), or the connection broke.
  void OnLost(size_t server, bool failed, TimePoint now);

  // Estimated mean time in which a server serves a request.
  Duration service_time() const { return Duration(static_cast<int64_t>(service_time_ns_)); }
  size_t report_count() const { return reports_.size(); }

 private:
  struct Server {
    NodeId node;
    ServerId id = 0;
    uint32_t load_index = 0;   // last reported value
    uint32_t sent_since = 0;   // our calls since then
    uint32_t outstanding = 0;  // our calls without an answer
    TimePoint reported_at{};
    TimePoint silent_since{};  // last answer to a call; or when the first outstanding one was sent
    bool silent = false;       // last reported by the server
    double run_time_ns = 0;    // decayed mean; 0: unknown
    double failures = 0;       // decayed share, as of failed_at
    TimePoint failed_at{};
    bool in_pool = false;
  };

  double Cost(const Server& server, TimePoint now) const;
  // The root of the server's relative service time.
  double Slowness(const Server& server) const;
  double FailureShare(const Server& server, TimePoint now) const;
  bool Silent(const Server& server, TimePoint now) const;
  Duration SilenceLimit() const;
  void AddReport(size_t server, uint32_t load_index, TimePoint now);
  void Remove(size_t server);
  Server Recall(const NodeId& node);
  void CountFailure(Server& server, bool failed, TimePoint now);
  size_t ChooseAmongReports(TimePoint now, std::span<const size_t> excluded, RandomSource& random);
  // True if the own node is chosen instead of `best`.
  bool PrefersLocal(const Local& local, size_t best, TimePoint now) const;
  // The least loaded of the preferred servers, if it is chosen instead of `best`, else that.
  size_t PreferredTo(size_t best, std::span<const size_t> preferred,
                     std::span<const size_t> excluded, TimePoint now) const;
  // True if the server hangs, or fails more than others do.
  bool IsDoubtful(const Server& server, TimePoint now) const;
  // Its believed load with one more request, weighed by its service time.
  double BelievedLoad(const Server& server) const;
  size_t ChooseWithoutReport(TimePoint now, std::span<const size_t> excluded, RandomSource& random);

  const ProbePoolOptions options_;
  std::vector<Server> servers_;
  std::vector<Server> departed_;  // the last kDepartedCountMax
  std::unordered_map<ServerId, size_t> index_of_;
  ServerId next_id_ = 1;
  std::vector<size_t> reports_;  // servers whose last report has not served a call
  std::vector<size_t> round_;    // servers not yet probed in this round
  TimePoint last_call_{};
  double probe_credit_ = 0;
  double service_time_ns_ = 0;
  bool has_worked_ = false;   // a server has answered, so service_time_ns_ is known
  double failure_share_ = 0;  // decayed, over all servers' answers
};

}  // namespace neptune
