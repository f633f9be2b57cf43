#include "index/core/testing/collection.h"

#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "index/core/builder/index_builder.h"
#include "index/core/search/global_statistics.h"

namespace search::index {

TemporaryFolder::TemporaryFolder() {
  const char* parent = std::getenv("TEST_TMPDIR");
  path_ = std::string(parent == nullptr ? "/tmp" : parent) + "/index_core.XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) path_.clear();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

neptune::StatusOr<std::unique_ptr<TestCollection>> TestCollection::Build(
    const std::vector<TestDocument>& documents, const CollectionOptions& options) {
  auto collection = std::make_unique<TestCollection>();
  std::vector<std::string> folders;
  std::vector<std::unique_ptr<IndexBuilder>> builders;
  const size_t count = options.partition_count * (options.two_tiers ? 2 : 1);
  for (size_t i = 0; i < count; ++i) {
    folders.push_back(collection->folder_.path() + "/" + std::to_string(i));
    NEPTUNE_ASSIGN_OR_RETURN(auto builder,
                             IndexBuilder::Create({.directory = folders[i],
                                                   .memory_size_max = options.memory_size_max,
                                                   .reorder = options.reorder}));
    builders.push_back(std::move(builder));
  }
  for (const TestDocument& document : documents) {
    const size_t tier = options.two_tiers && document.static_rank >= 0.5F ? 1 : 0;
    const size_t partition = (document.doc_id * 0x9E3779B97F4A7C15 >> 32) % options.partition_count;
    NEPTUNE_RETURN_IF_ERROR(
        builders[tier * options.partition_count + partition]->Add(document.View()));
  }
  for (auto& builder : builders) NEPTUNE_RETURN_IF_ERROR(builder->Finish());
  NEPTUNE_RETURN_IF_ERROR(
      ComputeGlobalStatistics(folders, {.ranking = options.ranking, .thread_count = 2}));
  for (const std::string& folder : folders) {
    Part part;
    NEPTUNE_ASSIGN_OR_RETURN(part.segment, Segment::Open(folder));
    NEPTUNE_ASSIGN_OR_RETURN(part.statistics,
                             CollectionStatistics::Open(folder, *part.segment, {}));
    NEPTUNE_ASSIGN_OR_RETURN(part.searcher,
                             Searcher::Create(*part.segment, *part.statistics, options.ranking));
    collection->parts_.push_back(std::move(part));
  }
  return collection;
}

bool TestCollection::Delete(uint64_t doc_id) {
  for (Part& part : parts_) {
    const auto ordinal = part.segment->FindDocument(doc_id);
    if (!ordinal.has_value()) continue;
    if (!part.live.has_value()) part.live.emplace(part.segment->document_count());
    return part.live->Delete(*ordinal);
  }
  return false;
}

neptune::StatusOr<SearchResult> TestCollection::Search(const Query& query,
                                                       const SearchOptions& options) const {
  SearchResult merged;
  for (size_t i = 0; i < parts_.size(); ++i) {
    SearchOptions own = options;
    own.live_documents = parts_[i].live.has_value() ? &*parts_[i].live : nullptr;
    NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result, parts_[i].searcher->Search(query, own));
    merged = i == 0 ? result : MergeResults(merged, result, options.k);
  }
  return merged;
}

namespace {

class QueryMaker {
 public:
  QueryMaker(const std::vector<TestDocument>& documents, const std::function<uint64_t()>& pick,
             bool has_prefixes)
      : documents_(documents), pick_(pick), has_prefixes_(has_prefixes) {}

  std::string Make(int depth) {
    switch (pick_() % (depth > 0 ? 13 : 7)) {
      case 0:
      case 1:
        return Word();
      case 2:
        return "\"" + Words(2 + pick_() % 3, " ") + "\"";
      case 3:
        return "title:" + Word();
      case 4:
        return pick_() % 3 == 0 ? Words(2, " OR ") + "^0." + std::to_string(1 + pick_() % 99)
                                : Words(2 + pick_() % 3, " OR ");
      case 5:
        if (pick_() % 4 == 0) return Prefix();
        return Words(2 + pick_() % 2, " ");
      case 6:
        return pick_() % 2 == 0 ? "title:\"" + Words(2, " ") + "\"" : "site:" + Document().site;
      case 7:
        if (pick_() % 2 == 0) return Make(depth - 1) + " -" + Word();
        return Make(depth - 1) + " ~" + (pick_() % 3 == 0 ? Prefix() : Word());
      case 8:
        return "(" + Make(depth - 1) + ") OR (" + Make(depth - 1) + ")";
      case 9:
        return "(" + Make(depth - 1) + ") (" + Make(depth - 1) + ")";
      case 10:
        return "(" + Make(depth - 1) + ") -(" + Make(depth - 1) + ")";
      case 11: {  // a repeated word counts twice
        const std::string again = pick_() % 2 == 0 ? Word() : Make(depth - 1);
        const std::string between = pick_() % 2 == 0 ? " " : " OR ";
        return "(" + again + ")" + between + Make(depth - 1) + between + "(" + again + ")";
      }
      default:
        return "(" + Make(depth - 1) + ") site:" + Document().site;
    }
  }

 private:
  const TestDocument& Document() { return documents_[pick_() % documents_.size()]; }

  // Letters and digits only, so that it is one word of the language.
  static std::string Plain(const std::string& word) {
    std::string plain;
    for (const char c : word) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) plain.push_back(c);
    }
    return plain.empty() ? "the" : plain;
  }

  // A prefix of a few words only, below the limit of words that a prefix stands for.
  std::string Prefix() {
    const std::string word = Word();
    const size_t size_min = word[0] == 'w' ? 5 : 8;  // of w0 to w2999 (ZipfDocuments), of texts
    return !has_prefixes_ || word.size() < size_min ? word : word.substr(0, word.size() - 1) + "*";
  }

  // Consecutive words of one document, so that phrases and conjunctions match something.
  std::string Words(uint64_t count, const std::string& between) {
    const TestDocument& document = Document();
    const std::string& text = pick_() % 5 == 0 ? document.title : document.body;
    const bool neighbours = pick_() % 4 != 0;
    std::string words;
    if (neighbours) {
      std::istringstream in(text.substr(text.empty() ? 0 : pick_() % text.size()));
      std::string word;
      in >> word;
      for (uint64_t i = 0; i < count && in >> word; ++i) {
        words += (words.empty() ? "" : between) + Plain(word);
      }
    }
    while (!neighbours && count-- > 0) words += (words.empty() ? "" : between) + Word();
    return words.empty() ? Word() : words;
  }

  std::string Word() {
    for (int attempt = 0; attempt < 10; ++attempt) {
      const std::string& text = Document().body;
      if (text.empty()) continue;
      std::istringstream in(text.substr(pick_() % text.size()));
      std::string word;
      if (in >> word && in >> word) return Plain(word);
    }
    return "nowhere";
  }

  const std::vector<TestDocument>& documents_;
  const std::function<uint64_t()>& pick_;
  const bool has_prefixes_;
};

}  // namespace

std::string RandomQuery(const std::vector<TestDocument>& documents,
                        const std::function<uint64_t()>& pick, bool has_prefixes) {
  return QueryMaker(documents, pick, has_prefixes).Make(2);
}

}  // namespace search::index
