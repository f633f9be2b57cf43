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

SearchPlanOptions ReadSearchPlanOptions(ParameterReader& reader) {
  SearchPlanOptions options;
  reader.Whole("tier1_partitions", 1, kPartitionCountMax, &options.tier1_partitions);
  reader.Whole("tier2_partitions", 0, kPartitionCountMax, &options.tier2_partitions);
  reader.Whole("docs_partitions", 1, kPartitionCountMax, &options.document_partitions);
  reader.Whole("cache_partitions", 0, kPartitionCountMax, &options.cache_partitions);
  reader.Millis("index_check_interval_ms", milliseconds(1), seconds(600),
                &options.index_check_interval);
  reader.Millis("cache_timeout_ms", milliseconds(1), seconds(10), &options.cache_timeout);
  reader.Millis("tier_timeout_ms", milliseconds(1), seconds(60), &options.tier_timeout);
  reader.Millis("document_timeout_ms", milliseconds(1), seconds(60), &options.document_timeout);
  reader.Millis("cache_insert_timeout_ms", milliseconds(1), seconds(10),
                &options.cache_insert_timeout);
  reader.Millis("suggest_timeout_ms", milliseconds(1), seconds(10), &options.suggest_timeout);
  reader.Millis("spelling_timeout_ms", milliseconds(1), seconds(10), &options.spelling_timeout);
  reader.Whole("spelling_total_max", 0, 1'000'000, &options.spelling_total_max);
  reader.Whole("suggest_count_max", 1, 100'000, &options.suggest_count_max);
  reader.Real("quality_min", 0.001, 1, &options.quality_min);
  reader.Whole("second_phase_count", 0, index::kTierHitCountMax, &options.second_phase_count);
  reader.Whole("tier1_good_hits_min", 1, index::kTierHitCountMax, &options.tier1_good_hits_min);
  reader.Real("tier1_score_min", 0, 1e6, &options.tier1_score_min);
  reader.Flag("count_exactly", &options.count_exactly);
  reader.Whole("snippet_size_max", 0, 2000, &options.snippet_size_max);
  reader.Flag("hedge_documents", &options.hedge_documents);
  reader.Millis("cache_time_to_live_ms", milliseconds(1), hours(24), &options.cache_time_to_live);
  reader.Whole("cache_insert_count_max", 1, 10'000, &options.cache_insert_count_max);
  reader.Whole("search_count_max", 1, 100'000, &options.search_count_max);
  reader.Millis("server_wait_goal_ms", milliseconds(1), seconds(10), &options.server_wait_goal);
  reader.Millis("admission_timeout_ms", milliseconds(1), seconds(60), &options.admission_timeout);
  return options;
}

}  // namespace search::frontend
