// Any query on a small segment whose files are damaged after they were opened, as by a disk that
// rots under a mapping. The pruned and the exhaustive evaluation agree before; afterwards a search
// says that the index is damaged, or gives hits in their order. Nothing reads outside of the files.
//
// The input is a line with the query, and flips of bits of five bytes each: the file, three bytes
// for the place, and the bits.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/sample_collection.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/format.h"
#include "index/core/testing/collection.h"
#include "tools/bazel/fuzz/place.h"

namespace {

using search::index::CollectionStatistics;
using search::index::Query;
using search::index::Searcher;
using search::index::SearchResult;
using search::index::Segment;

constexpr size_t kWanted = 10;
constexpr size_t kFlipSize = 5;
constexpr size_t kFlipsMax = 8;
// Checksums are compared when a file is opened, and a partition sees later writes by the file's
// time (index/tier), not the search alone: its answer may change without a word. Where searches
// verify what they read, this is true, and answers must be right.
constexpr bool kAllDamageIsReported = false;

neptune::FuzzPlace compared("the evaluations agree on hits");
neptune::FuzzPlace noticed("a search finds damage");
neptune::FuzzPlace answered("a search of damaged files gives hits");

template <typename T>
T OrAbort(neptune::StatusOr<T> value) {
  if (value.ok()) return std::move(*value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::abort();
}

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// The open files of a folder.
struct Partition {
  explicit Partition(const std::string& folder)
      : segment(OrAbort(Segment::Open(folder))),
        statistics(OrAbort(CollectionStatistics::Open(folder, *segment, {}))),
        searcher(OrAbort(Searcher::Create(*segment, *statistics))) {}

  std::unique_ptr<Segment> segment;
  std::unique_ptr<CollectionStatistics> statistics;
  std::unique_ptr<Searcher> searcher;
};

// Flips bits of a file in place, and back again.
class Flip {
 public:
  Flip(const std::string& folder, std::string_view bytes) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
    const std::string_view name =
        byte(0) % 4 == 3 ? search::index::kStatisticsFileName : search::index::kSegmentFileName;
    file_ = ::open((folder + "/" + std::string(name)).c_str(), O_RDWR | O_CLOEXEC);
    Require(file_ >= 0, "a file of the sample cannot be opened");
    const off_t size = ::lseek(file_, 0, SEEK_END);
    place_ = (off_t{byte(1)} << 16 | off_t{byte(2)} << 8 | byte(3)) % size;
    bits_ = byte(4);
    Apply();
  }
  ~Flip() {
    Apply();
    ::close(file_);
  }
  Flip(const Flip&) = delete;
  Flip& operator=(const Flip&) = delete;

 private:
  void Apply() const {
    uint8_t byte = 0;
    Require(::pread(file_, &byte, 1, place_) == 1, "a file of the sample cannot be read");
    byte ^= bits_;
    Require(::pwrite(file_, &byte, 1, place_) == 1, "a file of the sample cannot be written");
  }

  int file_ = -1;
  off_t place_ = 0;
  uint8_t bits_ = 0;
};

void CheckOrder(const SearchResult& result) {
  Require(result.hits.size() <= kWanted, "too many hits");
  for (size_t i = 1; i < result.hits.size(); ++i) {
    // Equal scores are in the order of the numbers, which may be damaged, too.
    Require(FinalScore(result.hits[i - 1]) >= FinalScore(result.hits[i]), "hits are out of order");
  }
}

class Sample {
 public:
  Sample() {
    Require(search::index::BuildSampleCollection(folder_.path()).ok(), "no sample");
    whole_ = std::make_unique<Partition>(folder_.path());
  }

  void Check(const Query& query, std::string_view flips) const {
    const SearchResult right = OrAbort(whole_->searcher->Search(query, {.k = kWanted}));
    const SearchResult slow =
        OrAbort(whole_->searcher->Search(query, {.k = kWanted, .exhaustive = true}));
    Require(right.hits == slow.hits, "pruned and exhaustive evaluation differ");
    if (!right.hits.empty()) compared.Reach();
    // A search may remember what it has read, so the damaged files are opened for themselves.
    const Partition damaged(folder_.path());
    std::vector<std::unique_ptr<Flip>> applied;
    for (size_t i = 0; i < kFlipsMax && (i + 1) * kFlipSize <= flips.size(); ++i) {
      applied.push_back(
          std::make_unique<Flip>(folder_.path(), flips.substr(i * kFlipSize, kFlipSize)));
    }
    for (const bool exhaustive : {false, true}) {
      CheckDamaged(damaged.searcher->Search(query, {.k = kWanted, .exhaustive = exhaustive}),
                   right);
    }
    // The order of the second phase is another one, so nothing is compared.
    CheckDamaged(damaged.searcher->Search(query, {.k = kWanted, .second_phase_count = 5}), {});
    (void)damaged.searcher->Search(query, {.k = 0, .count_exactly = true}).ok();
    (void)damaged.searcher->CountSites(query, {}).ok();
    // The last flip is taken back first, because several may be of one byte.
    while (!applied.empty()) applied.pop_back();
  }

 private:
  static void CheckDamaged(const neptune::StatusOr<SearchResult>& found,
                           const SearchResult& right) {
    if (!found.ok()) {
      Require(found.status().code() == neptune::StatusCode::kDataLoss,
              found.status().ToString().c_str());
      return noticed.Reach();
    }
    CheckOrder(*found);
    if (!found->hits.empty()) answered.Reach();
    const bool is_right = right.hits.empty() || found->hits == right.hits;
    Require(is_right || !kAllDamageIsReported, "damage has changed an answer without a word");
  }

  search::index::TemporaryFolder folder_;
  std::unique_ptr<Partition> whole_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Sample sample;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  const auto query = search::index::ParseQuery(bytes.substr(0, line));
  if (!query.ok()) return 0;
  sample.Check(*query, bytes.substr(std::min(line + 1, bytes.size())));
  return 0;
}
