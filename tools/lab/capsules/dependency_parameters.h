// The parameters that all cap_ experiments share, for our side and the baselines.
//
// Frozen: a change affects every figure of the chapter and is justified in its commit.
//
// Source: [Chu05] VI.A (hardware, admission control, lost requests), VI.C-VI.E (set-ups).
// Threads: immutable.

#pragma once

#include "neptune/base/time.h"
#include "neptune/world/sim/sim_processors.h"

namespace search::lab {

// A request without an answer after this time is lost. The client then cancels it: its work that
// still waits in a queue is dropped, in every scheme.
inline constexpr neptune::Duration kDependencyLostAfter = std::chrono::seconds(2);
// "No request will be directed to a server with at least 40 waiting requests."
inline constexpr uint32_t kDependencyQueueMax = 40;
// The length of the paper's runs.
inline constexpr double kDependencyRunS = 30;
// Warm-up before the run's clock begins.
inline constexpr double kDependencyWarmUpS = 5;
// Dual nodes that share their processors among all runnable threads, like an operating system. The
// quantum is the shortest of Linux 2.4 (SCHED_OTHER, lowest static priority); a longer one makes
// many threads slower.
inline const neptune::ProcessorOptions kDependencyNode = {.count = 2,
                                                          .quantum = std::chrono::milliseconds(10)};
// Concurrent requests of a back end: its number of processors. It has no dependencies. With
// unbounded pools its pool is unbounded as well.
inline constexpr uint32_t kDependencyBackEndPool = 2;
// Pools of the caller tier. Bounded pools are swept over these sizes and the best one is used. With
// capsules the main pool is not swept: twice the number of processors.
inline constexpr int kDependencyPools[] = {4, 8, 16, 32, 64, 128};
inline constexpr int kDependencyMainPool = 4;
// An unbounded pool: the maximum number of threads of the runtime.
inline constexpr uint32_t kDependencyUnbounded = 10'000;

// Silence after which callers forget a node, in experiments with the paper's failure detection
// (VI.D). In the others the failure ends before detection.
inline constexpr neptune::Duration kDependencyDetection = std::chrono::seconds(5);
inline constexpr neptune::Duration kDependencyUndetected = std::chrono::hours(1);

// The paper does not state the size of its bounded pool; its figures fit a small one. This size
// represents it, in addition to the best one.
inline constexpr int kDependencySmallPool = 8;

// RET: a tier-1 server searches its own documents, then queries three partitions, and waits for
// them at most this long.
inline constexpr neptune::Duration kRetCollectTime = std::chrono::milliseconds(1800);
inline constexpr uint32_t kRetPartitionCount = 3;
inline constexpr double kRetRate = 40;
// 40 requests a second as a share of the partitions' capacity (VI.A), which determines their cost.
inline constexpr double kRetLoadShare = 0.7;
// Cost of the tier-1 search, relative to that of a partition: it holds the best documents only.
inline constexpr double kRetTier1Share = 0.25;
// VI.E: "50 requests per second, which is roughly 125% of the system capacity".
inline constexpr double kRetThrottleRate = 50;
inline constexpr double kRetThrottleLoadShare = 1.25;

// Measured cost of a search of one of our partitions (see RetProfile), for the real world.
inline constexpr double kRetMeasuredMs = 0.158;

// AUC: three replicas; each request needs one of them.
inline constexpr double kAucRate = 30;
inline constexpr uint64_t kAucItemCount = 1000;
inline constexpr double kAucZipfExponent = 1.0;
inline constexpr double kAucBidShare = 0.04;
inline constexpr double kAucAddShare = 0.01;  // with the bids 5 % writes
inline constexpr double kAucListShare = 0.30;
// Chosen so that a request without failures takes 145 ms, as in the paper.
inline constexpr int kAucStoreUs = 100'000;
inline constexpr int kAucFrontUs = 5'000;

// BBS: ten thousand topics; the caches are so large that 68 % of requests hit.
inline constexpr double kBbsRate = 70;
inline constexpr uint64_t kBbsTopicCount = 10'000;
inline constexpr double kBbsZipfExponent = 1.0;
inline constexpr int kBbsCachePages = 480;  // of each cache
inline constexpr int kBbsFrontUs = 20'000;
inline constexpr int kBbsCacheUs = 2'000;
// A database that can serve the requests of a bypassed cache (46 a second), and one that hardly
// can.
inline constexpr int kBbsDatabaseUs = 20'000;
inline constexpr int kBbsSlowDatabaseUs = 40'000;
// Warm-up until the caches are full. Real caches are filled with the most popular topics, so that
// 68 % of requests hit.
inline constexpr double kBbsWarmUpS = 60;
inline constexpr uint64_t kBbsFilledTopicCount = 435;

// The capsules of the front's node, one for each dependency, as fields of the spec's message.
// If control is off (DC), each capsule has only its rule and the default bounds.
//
// Caller-side throttling of RET (DC+LT): the bound fills the partition's processors and a part of
// its queue, so that the partition neither runs idle nor refuses requests.
inline constexpr char kRetThrottle[] = " throttle_count: 24";
// Feedback of RET (DC+FB): from half to all of the partition's queue.
inline constexpr char kRetFeedback[] = " timeout_ms: 1800 low_watermark: 20 high_watermark: 40";

// Feedback of AUC (DC+FB): half of the time limit of a request, which leaves the other half for
// another replica.
inline constexpr char kAucFeedback[] =
    " timeout_ms: 1000 low_watermark: 20 high_watermark: 40 failure_count_max: 3";
// Feedback of BBS (DC+FB): the paper's half second. A working cache has a call in progress for a
// tenth of the time; one that is bypassed by mistake costs the database little. Probes are rare
// because the request of a probe waits for it.
inline constexpr char kBbsFeedback[] =
    " timeout_ms: 500 low_watermark: 1 high_watermark: 5 failure_count_max: 3"
    " probe_interval_ms: 2000";

}  // namespace search::lab
