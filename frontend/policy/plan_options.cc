#include "frontend/policy/plan_options.h"

#include "index/tier/index_tier.h"

namespace search::frontend {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Maximum number of partitions of an aggregation call.
constexpr uint64_t kPartitionCountMax = 1024;

}  // namespace

void DeclareSearchPlanParameters(neptune::ParameterTable& table, SearchPlanOptions* options) {
  table.Whole("tier1_partitions", {1, kPartitionCountMax}, &options->tier1_partitions,
              "partitions of tier 1 in the spec");
  table.Whole("tier2_partitions", {0, kPartitionCountMax}, &options->tier2_partitions,
              "partitions of tier 2 in the spec; 0: there is no tier 2");
  table.Whole("docs_partitions", {1, kPartitionCountMax}, &options->document_partitions,
              "partitions of the document servers in the spec");
  table.Whole("cache_partitions", {0, kPartitionCountMax}, &options->cache_partitions,
              "partitions of the cache in the spec; 0: no cache");
  table.Millis("index_check_interval_ms", {milliseconds(1), seconds(600)},
               &options->index_check_interval,
               "if documents change: maximum age of a cached answer of another epoch");
  table.Millis("cache_timeout_ms", {milliseconds(1), seconds(10)}, &options->cache_timeout,
               "time limit of a lookup in the cache");
  table.Millis("tier_timeout_ms", {milliseconds(1), seconds(60)}, &options->tier_timeout,
               "time limit of a tier");
  table.Millis("document_timeout_ms", {milliseconds(1), seconds(60)}, &options->document_timeout,
               "time limit of fetching documents");
  table.Millis("search_timeout_ms", {milliseconds(0), seconds(600)}, &options->search_timeout,
               "time limit of a search from its arrival, which clients can shorten; 0: the sum of "
               "its steps' limits");
  table.Millis("cache_insert_timeout_ms", {milliseconds(1), seconds(10)},
               &options->cache_insert_timeout, "time limit of an insertion into the cache");
  table.Millis("suggest_timeout_ms", {milliseconds(1), seconds(10)}, &options->suggest_timeout,
               "time limit of completions");
  table.Millis("spelling_timeout_ms", {milliseconds(1), seconds(10)}, &options->spelling_timeout,
               "time limit of looking for another spelling");
  table.Flag("spelling", &options->spelling, "whether other spellings are looked for");
  table.Whole("spelling_documents_max", {0, 1'000'000}, &options->spelling_documents_max,
              "a word is doubted if at most this many documents hold it");
  table.Whole("suggest_count_max", {1, 100'000}, &options->suggest_count_max,
              "maximum completions in progress; further requests are refused");
  table.Real("quality_min", {0.001, 1}, &options->quality_min,
             "minimum fraction of a tier's partitions for its answer to be used");
  table.Whole("second_phase_count", {0, index::kTierHitCountMax}, &options->second_phase_count,
              "documents that the second ranking phase of the tiers rates; 0: none");
  table.Choice("tier2_policy", {kTier2Safe, kTier2Quality, kTier2Always}, &options->tier2_policy,
               "when tier 2 is asked: unless it provably cannot change the page, unless enough of "
               "the page is sure, or always");
  table.Real("page_sure_min", {0, 1}, &options->page_sure_min,
             "with tier2_policy quality: share of a page that must be sure without tier 2");
  table.Real("tier2_skip_share_min", {0, 1}, &options->tier2_skip_share_min,
             "both tiers are asked at once if a smaller share of such queries does without tier 2");
  table.Flag("count_exactly", &options->count_exactly, "whether tiers count all matches");
  table.Whole("facet_posting_count_max", {0, uint64_t{1} << 40}, &options->facet_posting_count_max,
              "postings that a partition reads to count by site, approximately; 0: no limit");
  table.Whole("snippet_size_max", {0, 2000}, &options->snippet_size_max,
              "maximum size of a snippet's text in bytes");
  table.Flag("hedge_documents", &options->hedge_documents,
             "also ask a second replica if a document partition is slower than usual");
  table.Millis("cache_time_to_live_ms", {milliseconds(1), hours(24)}, &options->cache_time_to_live,
               "how long a cached answer may be used");
  table.Millis("cache_empty_time_to_live_ms", {milliseconds(1), hours(24)},
               &options->cache_empty_time_to_live,
               "how long a cached answer without results may be used");
  table.Millis("cache_partial_time_to_live_ms", {milliseconds(0), seconds(60)},
               &options->cache_partial_time_to_live,
               "how long a cached partial answer may be used; 0: they are not cached");
  table.Real("overlap_miss_share_min", {0, 1}, &options->overlap_miss_share_min,
             "a search begins before the cache has answered if at least this share of such "
             "questions is not in it");
  table.Real("overlap_waste_share_max", {0, 1}, &options->overlap_waste_share_max,
             "searches that begin so although the cache has the answer, as a share of those that "
             "are computed; 0: none");
  table.Millis("stale_answers_ms", {milliseconds(0), hours(1)}, &options->stale_answers,
               "how long after a switch answers of the former index version are given while new "
               "ones are computed; 0: never");
  table.Whole("stale_refresh_count_max", {1, 1000}, &options->stale_refresh_count_max,
              "maximum computations of answers whose former ones were given");
  table.Whole("joined_search_count_max", {0, 100'000}, &options->joined_search_count_max,
              "maximum searches that wait for the answer to an equal question");
  table.Whole("cache_insert_count_max", {1, 10'000}, &options->cache_insert_count_max,
              "maximum insertions in progress; further answers are not cached");
  table.Whole("search_count_max", {1, 100'000}, &options->search_count_max,
              "upper bound of concurrent searches that miss the cache");
  table.Whole("search_waiting_count_max", {1, 100'000}, &options->search_waiting_count_max,
              "maximum searches of a class that wait for admission");
  table.Millis("server_wait_goal_ms", {milliseconds(1), seconds(10)}, &options->server_wait_goal,
               "a wait at a server longer than this plus twice the run time is a sign of overload");
  table.Millis("admission_timeout_ms", {milliseconds(1), seconds(60)}, &options->admission_timeout,
               "how long after its arrival a search may still begin");
}

}  // namespace search::frontend
