// Measures the cost at the root of a reduction tree over 32 partitions for one query whose
// partitions each return their 100 best hits: in a flat tree the root merges 31 answers, in a
// load-adaptive tree those of its own children.
//
// The target is half the time of the flat tree. Times include decoding the children's messages and
// encoding the root's.

#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "index/tier/operators.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/service/data.h"

namespace search::index {
namespace {

using neptune::AggregationAnswer;
using neptune::Data;
using neptune::TreeScheme;

constexpr uint32_t kPartitionCount = 32;
constexpr uint32_t kHitCount = 100;

TierAnswer AnswerOf(uint32_t partition) {
  TierAnswer answer;
  for (uint32_t i = 0; i < kHitCount; ++i) {
    TierHit& hit = *answer.add_hits();
    hit.set_doc_id(uint64_t{i} * kPartitionCount + partition);
    hit.set_score(20.0f - 0.1f * static_cast<float>(i) - 0.001f * static_cast<float>(partition));
  }
  answer.set_total(5000);
  answer.set_total_is_exact(true);
  answer.set_evaluated_completely(true);
  answer.set_implementation("segment");
  return answer;
}

// The message of a child whose subtree has `count` partitions.
std::string MessageOf(uint32_t first, uint32_t count) {
  TierAnswer merged = AnswerOf(first);
  AggregationAnswer answer;
  for (uint32_t partition = first; partition < first + count; ++partition) {
    if (partition != first) merged = MergeTierAnswers(merged, AnswerOf(partition), kHitCount);
    answer.contributing.emplace_back(partition);
    answer.records.push_back({.node = neptune::NodeId("tier1-" + std::to_string(partition))});
  }
  answer.result = Data::Of(merged).bytes();
  return neptune::EncodeAnswer(answer);
}

void BM_Root(benchmark::State& state, TreeScheme scheme) {
  neptune::RandomSource random(1);
  const std::vector<neptune::TreeServer> servers(
      kPartitionCount,
      {neptune::Duration(0), std::chrono::milliseconds(5), std::chrono::microseconds(20)});
  const auto tree = *neptune::FormTree(scheme, servers, random);
  std::vector<std::string> messages;
  uint32_t first = 1;
  for (const uint32_t child : tree.Children(tree.root())) {
    const auto size = static_cast<uint32_t>(tree.SubtreeSize(child));
    messages.push_back(MessageOf(first, size));
    first += size;
  }
  const std::string own = Data::Of(AnswerOf(0)).bytes();
  for (auto _ : state) {
    AggregationAnswer all;
    Data reduced(own);
    for (const std::string& message : messages) {
      AggregationAnswer answer = *neptune::DecodeAnswer(message);
      const Data next(*std::move(answer.result));
      reduced = Data::Of(
          MergeTierAnswers(**reduced.As<TierAnswer>(), **next.As<TierAnswer>(), kHitCount));
      all.contributing.insert(all.contributing.end(), answer.contributing.begin(),
                              answer.contributing.end());
      all.records.insert(all.records.end(), answer.records.begin(), answer.records.end());
    }
    all.result = std::move(reduced).ReleaseBytes();
    benchmark::DoNotOptimize(neptune::EncodeAnswer(all));
  }
  state.counters["children"] = static_cast<double>(messages.size());
}
BENCHMARK_CAPTURE(BM_Root, flat, TreeScheme::kFlat);
BENCHMARK_CAPTURE(BM_Root, lat, TreeScheme::kLoadAdaptive);

}  // namespace
}  // namespace search::index
