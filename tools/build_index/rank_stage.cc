#include "tools/build_index/rank_stage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/strings.h"
#include "tools/build_index/link_texts.h"
#include "tools/build_index/page_rank.h"
#include "tools/build_index/read_stage.h"
#include "tools/build_index/spool.h"

namespace search::tools {
namespace {

using neptune::DataLoss;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr LinkTextOptions kLinkTexts;

template <typename T>
std::string_view AsBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

class RankStage {
 public:
  RankStage(const BuildOptions& options, const BuildJournal& journal)
      : options_(options), journal_(journal) {}

  StatusOr<BuildJournal::Facts> Run() {
    NEPTUNE_RETURN_IF_ERROR(ReadUrls());
    NEPTUNE_RETURN_IF_ERROR(ReadLinks());
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    const LinkGraph graph(document_count_, std::exchange(links_, {}));
    const std::vector<float> ranks = StaticRanks(graph, ComputePageRank(graph));
    NEPTUNE_ASSIGN_OR_RETURN(const auto qualities,
                             ReadValues<float>(journal_.BuildPath(kQualitiesName)));
    if (qualities.size() != ranks.size()) return DataLoss("the build's files are inconsistent");
    const std::vector<uint8_t> tiers =
        ChooseTiers(ranks, qualities, Tier1Share(options_, ranks.size()));
    NEPTUNE_RETURN_IF_ERROR(WriteWholeFile(journal_.BuildPath(kRanksName), AsBytes(ranks)));
    NEPTUNE_RETURN_IF_ERROR(WriteWholeFile(journal_.BuildPath(kTiersName), AsBytes(tiers)));
    NEPTUNE_RETURN_IF_ERROR(WriteAnchors());
    const auto tier1 = static_cast<uint64_t>(std::count(tiers.begin(), tiers.end(), 1));
    return BuildJournal::Facts{{"links", graph.link_count()}, {"tier1", tier1}};
  }

 private:
  Status ReadUrls() {
    NEPTUNE_ASSIGN_OR_RETURN(const auto hashes, ReadValues<UrlHash>(journal_.BuildPath(kUrlsName)));
    document_count_ = static_cast<uint32_t>(hashes.size());
    numbers_.reserve(hashes.size());
    for (uint32_t i = 0; i < document_count_; ++i) numbers_.emplace(hashes[i], i);
    anchors_.resize(document_count_);
    return OkStatus();
  }

  Status ReadLinks() {
    const uint64_t links_max = (options_.memory_mb << 20) / 2 / 16;
    NEPTUNE_ASSIGN_OR_RETURN(SpoolReader reader, SpoolReader::Open(journal_.BuildPath(kLinksName)));
    std::string_view record;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.Next(&record));
      if (!more) return OkStatus();
      NEPTUNE_RETURN_IF_ERROR(HandleLink(record));
      if (links_.size() > links_max) {
        return neptune::ResourceExhausted("more than ", links_max, " links; raise --memory_mb");
      }
    }
  }

  Status HandleLink(std::string_view record) {
    RecordReader reader(record);
    const uint64_t from = reader.ReadNextNumber();
    const UrlHash target = reader.ReadHash();
    const std::string_view text = reader.ReadText();
    if (!reader.ok() || from >= document_count_) return DataLoss("a spooled link is damaged");
    const auto found = numbers_.find(target);
    if (found == numbers_.end() || found->second == from) return OkStatus();
    if (text.empty()) {
      links_.emplace_back(static_cast<uint32_t>(from), found->second);
    } else {
      anchors_[found->second].Add(text, kLinkTexts);
    }
    return OkStatus();
  }

  Status WriteAnchors() {
    for (uint32_t p = 0; p < options_.partition_count; ++p) {
      NEPTUNE_ASSIGN_OR_RETURN(auto writer,
                               SpoolWriter::Create(journal_.BuildPath(AnchorsName(p))));
      for (uint64_t doc_id = p; doc_id < document_count_; doc_id += options_.partition_count) {
        if (anchors_[doc_id].empty()) continue;
        RecordWriter record;
        record.PutNumber(doc_id);
        record.PutText(anchors_[doc_id].Lines(kLinkTexts));
        NEPTUNE_RETURN_IF_ERROR(writer.Append(record.bytes()));
      }
      NEPTUNE_RETURN_IF_ERROR(writer.Commit());
    }
    return OkStatus();
  }

  const BuildOptions& options_;
  const BuildJournal& journal_;
  uint32_t document_count_ = 0;
  absl::flat_hash_map<UrlHash, uint32_t> numbers_;
  std::vector<LinkGraph::Link> links_;
  std::vector<LinkTexts> anchors_;
};

}  // namespace

std::vector<uint8_t> ChooseTiers(std::span<const float> ranks, std::span<const float> qualities,
                                 double tier1_share, std::span<const uint32_t> page_counts) {
  std::vector<uint32_t> order(ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (!page_counts.empty() && page_counts[a] != page_counts[b]) {
      return page_counts[a] > page_counts[b];
    }
    if (ranks[a] != ranks[b]) return ranks[a] > ranks[b];
    if (qualities[a] != qualities[b]) return qualities[a] > qualities[b];
    return a < b;
  });
  const auto chosen =
      static_cast<size_t>(std::ceil(tier1_share * static_cast<double>(order.size())));
  std::vector<uint8_t> tiers(ranks.size(), 2);
  for (size_t i = 0; i < std::min(chosen, order.size()); ++i) tiers[order[i]] = 1;
  return tiers;
}

std::string AnchorsName(uint32_t partition) { return StrCat("anchors-", partition); }

template <typename T>
StatusOr<std::vector<T>> ReadValues(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path, kDocumentsMax * sizeof(T)));
  if (bytes.size() % sizeof(T) != 0)
    return DataLoss(path, " has a size that is not a whole number of entries");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template StatusOr<std::vector<float>> ReadValues(const std::string& path);
template StatusOr<std::vector<uint8_t>> ReadValues(const std::string& path);
template StatusOr<std::vector<uint32_t>> ReadValues(const std::string& path);
template StatusOr<std::vector<UrlHash>> ReadValues(const std::string& path);

StatusOr<BuildJournal::Facts> RunRankStage(const BuildOptions& options,
                                           const BuildJournal& journal) {
  return RankStage(options, journal).Run();
}

}  // namespace search::tools
