// Options of the search plan: services, time limits, and when tier 2 is asked.
//
// No I/O.
// Threads: plain values.
// Limits: DeclareSearchPlanParameters has those of each parameter.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/time.h"
#include "neptune/service/parameter_table.h"

namespace search::frontend {

// Values of tier2_policy.
inline constexpr char kTier2Safe[] = "safe";        // unless it provably cannot change the page
inline constexpr char kTier2Quality[] = "quality";  // unless enough of the page is sure
inline constexpr char kTier2Always[] = "always";

struct SearchPlanOptions {
  // Partition count of each service in the cluster spec, so that a partition without a live replica
  // is reported as missing. Parameters tier1_partitions, tier2_partitions (0: no such tier),
  // docs_partitions, cache_partitions (0: no cache).
  uint32_t tier1_partitions = 1;
  uint32_t tier2_partitions = 1;
  uint32_t document_partitions = 1;
  uint32_t cache_partitions = 1;

  // Time limit of each step. Larger: fewer partial answers, longer waits.
  // Parameters *_timeout_ms.
  neptune::Duration cache_timeout = std::chrono::milliseconds(20);
  neptune::Duration tier_timeout = std::chrono::milliseconds(500);
  neptune::Duration document_timeout = std::chrono::milliseconds(300);
  neptune::Duration cache_insert_timeout = std::chrono::milliseconds(200);

  // Longest time of a search from its arrival, which a client can shorten (parameter `timeout` of
  // /search). 0: SumOfSteps. Larger: more complete answers while servers are slow, longer waits.
  // Parameter search_timeout_ms.
  neptune::Duration search_timeout{0};

  // Minimum fraction of a tier's partitions for its answer to be used. Larger: an error instead of
  // a partial answer. Default: any partition is better than none. Parameter quality_min.
  double quality_min = 0.01;

  // When tier 2 is asked. Default: every page is the one of a single index. Parameter tier2_policy.
  std::string tier2_policy = kTier2Safe;
  // With the policy `quality`, the share of a page's results that must provably be those of a
  // single index for tier 2 not to be asked. Larger: tier 2 is asked more often, fewer other
  // results. 0: tier 2 is asked only if tier 1 fails. Parameter page_sure_min.
  double page_sure_min = 0.7;
  // Both tiers are asked at once if a smaller share of such queries does without tier 2. Larger:
  // shorter waits, more searches of tier 2 that were not needed. Parameter tier2_skip_share_min.
  double tier2_skip_share_min = 0.2;

  // Number of the best documents by score that the second ranking phase rates; 0: none. Larger:
  // lower ranked documents can move up; costs time and larger messages. Default: larger values
  // changed nothing on judged collections (index/core/README.md). Parameter second_phase_count.
  uint32_t second_phase_count = 50;

  // Tiers count all matches. False: faster on large collections, totals are lower bounds.
  bool count_exactly = true;
  // Maximum number of postings that a partition reads to count all matches by site,
  // approximately. Larger: exact counts of more questions, which occupy a processor longer. 0: no
  // limit but tier_timeout. Default: about 50 ms.
  uint64_t facet_posting_count_max = 16'000'000;
  // Maximum size of a snippet's text in bytes.
  uint32_t snippet_size_max = 240;
  // A document partition that is slower than usual is also asked at a second replica. True: shorter
  // tails for a few duplicate fetches.
  bool hedge_documents = true;
  // Keys of cached answers are codes that do not show the question; made with a secret of the
  // cluster's frontends, or without one, if the cluster has no key: then who has the code of a
  // question that can be guessed can find it. Parameter private_logs.
  bool hides_cache_keys = false;
  std::string cache_key_secret{};
  // How long a cached answer may be used; bounds how long a new index version stays unseen.
  neptune::Duration cache_time_to_live = std::chrono::minutes(10);

  // The same of an answer without results, which new documents make wrong most visibly. Larger:
  // questions that nothing answers cost less. Parameter cache_empty_time_to_live_ms.
  neptune::Duration cache_empty_time_to_live = std::chrono::minutes(1);
  // The same of a partial answer; 0: partial answers are not cached. Larger: while servers fail,
  // repeated questions ask them less; better answers come later once they are back. Default: what a
  // user waits before a reload. Parameter cache_partial_time_to_live_ms.
  neptune::Duration cache_partial_time_to_live = std::chrono::seconds(1);

  // A search begins while the cache is still looking its question up if at least this share of the
  // latest questions with as many words was not in it. Larger: fewer searches begin in vain, more
  // wait for a cache that does not have them. Parameter overlap_miss_share_min.
  double overlap_miss_share_min = 0.9;
  // Searches that begin in vain are at most this share of those that are computed; 0: none begins
  // before the cache has answered. Larger: more searches begin at once, more work is lost.
  // Parameter overlap_waste_share_max.
  double overlap_waste_share_max = 0.05;

  // How long after a switch to another version of the index answers of the former one are given
  // while those of the current one are computed; 0: never. Larger: rare questions, too, are
  // answered at once after a switch; some answers are of the former version for longer. Parameter
  // stale_answers_ms.
  neptune::Duration stale_answers = std::chrono::minutes(1);
  // Maximum number of such computations in progress; for further questions the former answer is
  // given without one. Larger: the cache fills faster, other searches wait longer. Parameter
  // stale_refresh_count_max.
  size_t stale_refresh_count_max = 4;
  // Maximum number of searches that wait for the answer to an equal question; further ones compute
  // it themselves. Parameter joined_search_count_max.
  size_t joined_search_count_max = 4096;

  // If documents change: maximum age of a cached answer of another epoch, and of the knowledge of
  // the current epoch. Larger: more cache hits while documents change, fewer searches that bypass
  // the cache to learn the epoch; changes become visible later. Default: with the time an index
  // needs to apply a change, it is visible within two seconds. Parameter index_check_interval_ms.
  neptune::Duration index_check_interval = std::chrono::seconds(1);

  // Time limits of completions and of looking for another spelling. Larger: slow partitions
  // contribute more; a page with a doubtful word may wait this long for a spelling. Default: a
  // spelling takes a millisecond, unless servers fail, and decides what the page shows.
  neptune::Duration suggest_timeout = std::chrono::milliseconds(100);
  neptune::Duration spelling_timeout = std::chrono::milliseconds(250);
  // Whether other spellings are looked for.
  bool spelling = true;
  // A word is doubted if at most this many documents hold it. Larger: more frequent errors are
  // noticed, more words are looked up. Default: errors that documents repeat are rarer.
  uint32_t spelling_documents_max = 5;
  // Maximum number of completions in progress; further requests are refused.
  size_t suggest_count_max = 256;

  // Maximum number of cache insertions in progress; further answers are not cached.
  size_t cache_insert_count_max = 64;
  // Upper bound of concurrent searches that miss the cache; the actual limit adapts to the waiting
  // times at servers. Further searches wait here by class. Larger: more concurrency with many
  // servers.
  size_t search_count_max = 256;
  // Maximum number of searches of a class that wait for that; those that could not begin within
  // admission_timeout do not wait at all. Larger: a flood takes more memory, about 16 KiB for each
  // search. Default: more than begin in that time.
  size_t search_waiting_count_max = 4096;
  // A wait at a server longer than this plus twice the subsequent run time is a sign of overload.
  // Larger: more waiting at servers, where it ignores the order by class. Default: a tenth of what
  // a user notices.
  neptune::Duration server_wait_goal = std::chrono::milliseconds(20);
  // How long after its arrival a search may still begin. Larger: longer bursts and more clients in
  // closed loops are absorbed, and answers come later: under lasting overload all wait for about
  // this long. Default: under overload too, answers come within a second.
  neptune::Duration admission_timeout = std::chrono::milliseconds(850);

  // The time that all steps take if each uses its limit: two lookups in the cache, the wait for
  // admission, both tiers one after the other for the question and for another reading of it,
  // another spelling, and the documents.
  neptune::Duration SumOfSteps() const {
    return 2 * cache_timeout + admission_timeout + 4 * tier_timeout + spelling_timeout +
           document_timeout;
  }
  // The time of a search whose client asks for `wanted`; 0: as long as may be.
  neptune::Duration TimeoutFor(neptune::Duration wanted) const {
    const neptune::Duration max =
        search_timeout > neptune::Duration(0) ? search_timeout : SumOfSteps();
    return wanted > neptune::Duration(0) ? std::min(wanted, max) : max;
  }
};

// Declares the parameters that set the options.
void DeclareSearchPlanParameters(neptune::ParameterTable& table, SearchPlanOptions* options);

}  // namespace search::frontend
