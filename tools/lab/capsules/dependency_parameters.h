// What all cap_ experiments have in common, for our side and the baselines alike.
//
// Frozen: a change here is a change of every figure of the chapter and is argued in its commit.
//
// Source: [Chu05] VI.A (hardware, admission control, what counts as lost), VI.C-VI.E (set-ups).
// Threads: immutable.

#pragma once

#include "neptune/base/time.h"
#include "neptune/world/sim/sim_processors.h"

namespace search::lab {

// A request that is not answered by then is lost. The client waits no longer, and says so: what still waits in a queue
// for it is dropped, in every scheme.
inline constexpr neptune::Duration kDependencyLostAfter = std::chrono::seconds(2);
// "No request will be directed to a server with at least 40 waiting requests."
inline constexpr uint32_t kDependencyQueueMax = 40;
// The paper's runs.
inline constexpr double kDependencyRunS = 30;
// Before the run's clock begins.
inline constexpr double kDependencyWarmUpS = 5;
// Dual nodes that share their processors among all threads that can run, as an operating system does. The quantum is
// the shortest of Linux 2.4 (SCHED_OTHER, lowest static priority); a longer one makes a herd of threads worse.
inline const neptune::ProcessorOptions kDependencyNode = {.count = 2,
                                                          .quantum = std::chrono::milliseconds(10)};
// Requests that a back end works on at once: as many as it has processors. It depends on nothing. With unbounded pools
// its pool is unbounded as well.
inline constexpr uint32_t kDependencyBackEndPool = 2;
// The caller tier. Bounded pools are swept over these sizes and the best one is used; with capsules the main pool is
// one of these as well, not swept: twice the processors.
inline constexpr int kDependencyPools[] = {4, 8, 16, 32, 64, 128};
inline constexpr int kDependencyMainPool = 4;
// No pool bound at all: as many threads as the runtime can have.
inline constexpr uint32_t kDependencyUnbounded = 10'000;

// How long a node is silent until callers forget it, where the paper's failure detection is in play (VI.D); where it is
// not, the failure is over before.
inline constexpr neptune::Duration kDependencyDetection = std::chrono::seconds(5);
inline constexpr neptune::Duration kDependencyUndetected = std::chrono::hours(1);

// The paper's bounded pool is not printed; it fits a small one. This one stands for it, beside the best.
inline constexpr int kDependencySmallPool = 8;

// RET: a tier-1 server searches its own documents, then asks three partitions and waits for them no longer than this.
inline constexpr neptune::Duration kRetCollectTime = std::chrono::milliseconds(1800);
inline constexpr uint32_t kRetPartitionCount = 3;
inline constexpr double kRetRate = 40;
// What 40 requests a second are of what the partitions can do (VI.A). Their costs follow.
inline constexpr double kRetLoadShare = 0.7;
// Of a partition's search: the tier-1 server holds the best documents only.
inline constexpr double kRetTier1Share = 0.25;
// VI.E: "50 requests per second, which is roughly 125% of the system capacity".
inline constexpr double kRetThrottleRate = 50;
inline constexpr double kRetThrottleLoadShare = 1.25;

// What a search of a partition of ours costs as measured, see RetProfile: for the real world.
inline constexpr double kRetMeasuredMs = 0.158;

// AUC: three replicas, of which each request needs one.
inline constexpr double kAucRate = 30;
inline constexpr uint64_t kAucItemCount = 1000;
inline constexpr double kAucZipfExponent = 1.0;
inline constexpr double kAucBidShare = 0.04;
inline constexpr double kAucAddShare = 0.01;  // with the bids 5 % writes
inline constexpr double kAucListShare = 0.30;
// Chosen so that a healthy request takes what it did in the paper, 145 ms.
inline constexpr int kAucStoreUs = 100'000;
inline constexpr int kAucFrontUs = 5'000;

// BBS: ten thousand topics; the caches are so large that 68 % of requests hit.
inline constexpr double kBbsRate = 70;
inline constexpr uint64_t kBbsTopicCount = 10'000;
inline constexpr double kBbsZipfExponent = 1.0;
inline constexpr int kBbsCachePages = 480;  // of each cache
inline constexpr int kBbsFrontUs = 20'000;
inline constexpr int kBbsCacheUs = 2'000;
// A database that can take the requests of a cache that is passed by (46 a second), and one that hardly can.
inline constexpr int kBbsDatabaseUs = 20'000;
inline constexpr int kBbsSlowDatabaseUs = 40'000;
// For the caches to fill. Real ones are filled: with so many of the topics asked for most that 68 % of requests hit.
inline constexpr double kBbsWarmUpS = 60;
inline constexpr uint64_t kBbsFilledTopicCount = 435;

// The capsules of the front's node, one for each thing that it depends on, in the words of a capsule file. Without control
// (DC) each has its rule only, and the bounds that any capsule has.
//
// Caller-side throttling of RET (DC+LT): as many as the partition's processors and a part of its queue take, so that it
// never runs dry and never refuses.
inline constexpr char kRetThrottle[] = " throttle_count: 24";
// Feedback of RET (DC+FB): from half to all of what the partition's queue holds.
inline constexpr char kRetFeedback[] = " timeout_ms: 1800 low_watermark: 20 high_watermark: 40";

// Feedback of AUC (DC+FB): half of what a request may take, so that there is as much for another replica.
inline constexpr char kAucFeedback[] =
    " timeout_ms: 1000 low_watermark: 20 high_watermark: 40 failure_count_max: 3";
// Feedback of BBS (DC+FB): the paper's half second. A cache that is well has a call inside a tenth of the time; one that
// is passed by in error costs the database a little. A probe's page waits for it, so they are rare.
inline constexpr char kBbsFeedback[] =
    " timeout_ms: 500 low_watermark: 1 high_watermark: 5 failure_count_max: 3"
    " probe_interval_ms: 2000";

}  // namespace search::lab
