// Reads any bytes as the statistics of a small segment: refused, or queries of every plan are
// answered with as many documents as ever, best first, however wrong frequencies and bounds are.
// The header is made to fit, and checksums of sections are not compared.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/sample_collection.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/fitted_header.h"
#include "index/core/segment/format.h"
#include "index/core/testing/collection.h"

namespace {

using search::index::CollectionStatistics;
using search::index::Query;
using search::index::Searcher;
using search::index::SearchResult;
using search::index::SectionFile;
using search::index::Segment;

constexpr const char* kQueries[] = {"the",
                                    "n3",
                                    "every2 every3",
                                    "every2 OR every3 OR n7 OR the",
                                    "\"the segment\"",
                                    "every2 -every3",
                                    "title:n4 OR every19",
                                    "(every5 OR every7) the",
                                    "words"};
constexpr size_t kWanted = 5;

template <typename T>
T OrAbort(neptune::StatusOr<T> value) {
  if (value.ok()) return std::move(*value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::abort();
}

// The sample segment, and the answers that its own statistics give.
class Sample {
 public:
  Sample() {
    if (!search::index::BuildSampleCollection(folder_.path()).ok()) std::abort();
    segment_ = OrAbort(Segment::Open(folder_.path()));
    const auto statistics = OrAbort(CollectionStatistics::Open(folder_.path(), *segment_, {}));
    const auto searcher = OrAbort(Searcher::Create(*segment_, *statistics));
    for (const char* text : kQueries) {
      queries_.push_back(OrAbort(search::index::ParseQuery(text)));
      totals_.push_back(Count(*searcher, queries_.back()).total);
    }
  }

  void Check(const std::string& bytes, bool verify) const {
    auto file = SectionFile::FromBytes(bytes, "fuzz", search::index::kStatisticsKind,
                                       {.verify_checksums = verify});
    if (!file.ok()) return;
    const auto statistics = CollectionStatistics::FromFile(std::move(*file), *segment_);
    if (!statistics.ok()) return;
    const auto searcher = Searcher::Create(*segment_, **statistics);
    if (!searcher.ok()) return;
    for (size_t i = 0; i < queries_.size(); ++i) {
      if (Count(**searcher, queries_[i]).total != totals_[i]) std::abort();
      CheckHits(OrAbort((*searcher)->Search(queries_[i], {.k = kWanted})));
    }
  }

 private:
  static SearchResult Count(const Searcher& searcher, const Query& query) {
    return OrAbort(searcher.Search(query, {.k = 0, .count_exactly = true}));
  }

  static void CheckHits(const SearchResult& result) {
    if (result.hits.size() > kWanted) std::abort();
    for (size_t i = 1; i < result.hits.size(); ++i) {
      const auto& [better, worse] = std::pair(result.hits[i - 1], result.hits[i]);
      const bool ordered = better.score > worse.score ||
                           (better.score == worse.score && better.doc_id < worse.doc_id);
      if (!ordered) std::abort();
    }
  }

  search::index::TemporaryFolder folder_;
  std::unique_ptr<Segment> segment_;
  std::vector<Query> queries_;
  std::vector<uint64_t> totals_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Sample sample;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  sample.Check(bytes, /*verify=*/true);
  search::index::FitHeader(&bytes);
  sample.Check(bytes, /*verify=*/false);
  return 0;
}
