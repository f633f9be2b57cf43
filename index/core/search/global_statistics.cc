#include "index/core/search/global_statistics.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/merge_queue.h"
#include "index/core/segment/segment_reader.h"

namespace search::index {
namespace {

using Segments = std::vector<std::unique_ptr<Segment>>;

neptune::Status CheckDocIdsAreUnique(const Segments& segments) {
  std::vector<uint32_t> next(segments.size());
  MergeQueue queue([&](size_t i) { return segments[i]->doc_id_in_order(next[i]); });
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i]->document_count() > 0) queue.Push(i);
  }
  bool has_last = false;
  uint64_t last = 0;
  while (!queue.empty()) {
    const size_t i = queue.Pop();
    const uint64_t doc_id = segments[i]->doc_id_in_order(next[i]);
    if (has_last && doc_id <= last) {
      return neptune::InvalidArgument("document ", doc_id, " occurs twice, once in ",
                                      segments[i]->name());
    }
    has_last = true;
    last = doc_id;
    if (++next[i] < segments[i]->document_count()) queue.Push(i);
  }
  return neptune::OkStatus();
}

// Collection-wide document frequencies, by segment and term ordinal.
using Frequencies = std::vector<std::vector<uint32_t>>;

neptune::StatusOr<Frequencies> CountFrequencies(const Segments& segments) {
  Frequencies frequencies;
  std::vector<TermCursor> cursors;
  cursors.reserve(segments.size());
  for (const auto& segment : segments) {
    frequencies.emplace_back().reserve(segment->terms().term_count());
    cursors.emplace_back(segment->terms());
  }
  MergeQueue queue([&](size_t i) { return cursors[i].key(); });
  const auto advance = [&](size_t i) {
    if (cursors[i].Next()) queue.Push(i);
    return neptune::Annotate(cursors[i].status(), segments[i]->name());
  };
  for (size_t i = 0; i < segments.size(); ++i) NEPTUNE_RETURN_IF_ERROR(advance(i));
  std::vector<size_t> holders;
  while (!queue.empty()) {
    holders.clear();
    uint64_t sum = 0;
    do {
      holders.push_back(queue.Pop());
      sum += cursors[holders.back()].entry().document_frequency;
    } while (!queue.empty() && cursors[queue.top()].key() == cursors[holders[0]].key());
    for (const size_t i : holders) {
      frequencies[i].push_back(static_cast<uint32_t>(std::min<uint64_t>(sum, UINT32_MAX)));
    }
    for (const size_t i : holders) NEPTUNE_RETURN_IF_ERROR(advance(i));
  }
  return frequencies;
}

StatisticsTotals CollectionTotals(const Segments& segments, const RankingOptions& ranking) {
  StatisticsTotals totals;
  for (const auto& segment : segments) {
    totals.document_count += segment->document_count();
    for (size_t field = 0; field < kFieldCount; ++field) {
      totals.length_sums[field] += segment->totals().length_sums[field];
    }
  }
  totals.k1 = ranking.k1;
  totals.static_rank_weight = ranking.static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    totals.weights[field] = ranking.fields[field].weight;
    totals.bs[field] = ranking.fields[field].b;
  }
  return totals;
}

neptune::Status WriteStatistics(const std::string& directory, const Segment& segment,
                                StatisticsTotals totals, std::span<const uint32_t> frequencies) {
  totals.segment_fingerprint = segment.fingerprint();
  const std::string path = neptune::StrCat(directory, "/", kStatisticsFileName);
  NEPTUNE_ASSIGN_OR_RETURN(auto file, SectionFileWriter::Create(path, kStatisticsKind));
  file->BeginSection(kStatisticsTotalsSection);
  file->AppendArray(std::span<const StatisticsTotals>(&totals, 1));
  file->BeginSection(kDocumentFrequenciesSection);
  file->AppendArray(frequencies);
  return file->Finish().status();
}

// Calls job(i) for each i < count from several threads; returns the error of the smallest i.
template <typename Job>
neptune::Status RunInParallel(size_t count, int thread_count, const Job& job) {
  std::vector<neptune::Status> statuses(count);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) statuses[i] = job(i);
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < thread_count && static_cast<size_t>(t) < count; ++t) {
    threads.emplace_back(work);
  }
  work();
  for (std::thread& thread : threads) thread.join();
  for (const neptune::Status& status : statuses) NEPTUNE_RETURN_IF_ERROR(status);
  return neptune::OkStatus();
}

}  // namespace

neptune::Status ComputeGlobalStatistics(const std::vector<std::string>& directories,
                                        const GlobalStatisticsOptions& options) {
  if (!IsValid(options.ranking))
    return neptune::InvalidArgument("statistics: invalid ranking options");
  if (directories.size() > kSegmentsMax) {
    return neptune::InvalidArgument("statistics: more than ", kSegmentsMax, " segments");
  }
  Segments segments;
  for (const std::string& directory : directories) {
    NEPTUNE_ASSIGN_OR_RETURN(auto segment, Segment::Open(directory));
    segments.push_back(std::move(segment));
  }
  NEPTUNE_RETURN_IF_ERROR(CheckDocIdsAreUnique(segments));
  NEPTUNE_ASSIGN_OR_RETURN(const Frequencies frequencies, CountFrequencies(segments));
  const StatisticsTotals totals = CollectionTotals(segments, options.ranking);
  return RunInParallel(segments.size(), options.thread_count, [&](size_t i) {
    return WriteStatistics(directories[i], *segments[i], totals, frequencies[i]);
  });
}

}  // namespace search::index
