// How a frontend searches: who is asked, for how long, and when tier 1 is enough.
//
// No I/O.
// Threads: plain values.
// Limits: those that ReadSearchPlanOptions gives to each parameter.

#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/parameters.h"
#include "neptune/base/time.h"

namespace search::frontend {

struct SearchPlanOptions {
  // Partitions of each service, as the cluster spec says, so that one without a live replica is
  // missing and not unknown. Parameters tier1_partitions, tier2_partitions (0: no such tier),
  // docs_partitions, cache_partitions (0: no cache).
  uint32_t tier1_partitions = 1;
  uint32_t tier2_partitions = 1;
  uint32_t document_partitions = 1;
  uint32_t cache_partitions = 1;

  // How long each step may take. Larger: fewer partial answers, longer waits for them.
  // Parameters *_timeout_ms.
  neptune::Duration cache_timeout = std::chrono::milliseconds(20);
  neptune::Duration tier_timeout = std::chrono::milliseconds(500);
  neptune::Duration document_timeout = std::chrono::milliseconds(300);
  neptune::Duration cache_insert_timeout = std::chrono::milliseconds(200);

  // Least share of a tier's partitions for its answer to be used. Larger: an error instead of a
  // partial answer. Default: any partition is better than none. Parameter quality_min.
  double quality_min = 0.01;

  // Tier 1 is enough if so many of its hits have at least that score. Larger: tier 2 is asked more
  // often. Parameters tier1_good_hits_min, tier1_score_min.
  uint32_t tier1_good_hits_min = 10;
  double tier1_score_min = 0;

  // Documents that the second ranking phase rates, of the best by score; 0: none. Larger: a document
  // further behind can come to the front; costs time and hits in messages. Default: more changed
  // nothing on judged collections (index/core/README.md). Parameter second_phase_count.
  uint32_t second_phase_count = 50;

  // Whether tiers count all matches. False: faster on large collections, totals are lower bounds.
  bool count_exactly = true;
  // Bytes of a snippet's text.
  uint32_t snippet_size_max = 240;
  // Whether a document partition that is slow beside what is usual is asked of a second replica too. True: shorter
  // tails for a few fetches done twice.
  bool hedge_documents = true;
  // How long an answer may be given again; bounds how long a new index version stays unseen.
  neptune::Duration cache_time_to_live = std::chrono::minutes(10);

  // Where documents change: how old a cached answer of another epoch may be, and what is known of the epoch. Larger: more
  // answers from the cache while documents change, fewer searches past it to learn the epoch; what changed is seen later. Default: with
  // what an index takes to find a document, within two seconds. Parameter index_check_interval_ms.
  neptune::Duration index_check_interval = std::chrono::seconds(1);

  // How long completions, and another spelling of a query, may take. Larger: more of them from slow
  // partitions; a page without results waits that long for a spelling.
  neptune::Duration suggest_timeout = std::chrono::milliseconds(100);
  neptune::Duration spelling_timeout = std::chrono::milliseconds(50);
  // Another spelling is looked for if a query finds at most so many documents. Larger: more work for
  // queries that need none. Default: two pages.
  uint32_t spelling_total_max = 20;
  // Completions under way; further ones are refused.
  size_t suggest_count_max = 256;

  // Insertions into the cache under way; further answers are not cached.
  size_t cache_insert_count_max = 64;
  // Most searches past the cache that are under way; how many really are follows from how long they wait at servers.
  // Further ones wait here, by class, for as many places as the service has queue_length_max. Larger: more at once when
  // servers are many.
  size_t search_count_max = 256;
  // A wait at a server over this and twice the time that it then ran is a sign of overload. Larger: more waits at servers, out of order. Default: a tenth of
  // what a user notices.
  neptune::Duration server_wait_goal = std::chrono::milliseconds(20);
  // How long after its arrival a search may still begin. Larger: longer bursts are ridden out, and answers come later.
  neptune::Duration admission_timeout = std::chrono::seconds(1);
};

// Takes what of `reader` belongs here; mistakes are told by reader.Finish().
SearchPlanOptions ReadSearchPlanOptions(ParameterReader& reader);

}  // namespace search::frontend
