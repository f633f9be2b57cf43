// A collection of documents built into segments and searched as one.
//
// Writes below a directory of its own and removes it.
// Threads: thread-compatible.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/core/search/searcher.h"
#include "index/core/segment/live_documents.h"
#include "index/core/testing/documents.h"
#include "neptune/base/status.h"

namespace search::index {

// A new directory below the test's temporary directory, removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct CollectionOptions {
  size_t partition_count = 1;
  // Puts documents of static rank 0.5 and more into segments of their own.
  bool two_tiers = false;
  RankingOptions ranking = {};
  size_t memory_size_max = size_t{64} << 20;
  bool reorder = false;  // reorders the documents of each segment
};

class TestCollection {
 public:
  static neptune::StatusOr<std::unique_ptr<TestCollection>> Build(
      const std::vector<TestDocument>& documents, const CollectionOptions& options);

  // Clears the document's live bit; false if it is not live in any segment.
  bool Delete(uint64_t doc_id);

  // The merged answer of all segments over their live documents.
  neptune::StatusOr<SearchResult> Search(const Query& query, const SearchOptions& options) const;

  size_t segment_count() const { return parts_.size(); }
  const Segment& segment(size_t i) const { return *parts_[i].segment; }
  const CollectionStatistics& statistics(size_t i) const { return *parts_[i].statistics; }
  const Searcher& searcher(size_t i) const { return *parts_[i].searcher; }

 private:
  struct Part {
    std::unique_ptr<Segment> segment;
    std::unique_ptr<CollectionStatistics> statistics;
    std::unique_ptr<Searcher> searcher;
    std::optional<LiveDocuments> live;  // set once a document was deleted
  };

  TemporaryFolder folder_;
  std::vector<Part> parts_;
};

// Generates queries over the words of the documents: single words, all, any, phrases, exclusions,
// fields, brackets, prefixes unless `has_prefixes` is false; `pick` yields random numbers.
std::string RandomQuery(const std::vector<TestDocument>& documents,
                        const std::function<uint64_t()>& pick, bool has_prefixes = true);

}  // namespace search::index
