#include "tools/evaluate/linked_pages.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/build_index/link_texts.h"
#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::StatusOr;

bool IsHeldBack(const HeldBackKeys& held_back, const std::string& url, const std::string& key) {
  if (key.empty()) return false;
  const auto found = held_back.find(url);
  return found != held_back.end() && found->second.contains(key);
}

StatusOr<std::vector<CorpusDocument>> ReadDocuments(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
  JsonLineParser parser({.id_url_prefix = "", .default_site = ""});
  LineReader::Line line;
  std::vector<CorpusDocument> documents;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool has_line, reader.Next(&line));
    if (!has_line) return documents;
    auto document = parser.Parse(line.text);
    if (!document.ok()) continue;
    if (documents.size() == kLinkedPagesMax) {
      return neptune::InvalidArgument(path, ": more than ", kLinkedPagesMax, " pages");
    }
    document->text = std::string();
    document->structure = std::string();
    documents.push_back(std::move(*document));
  }
}

// r^slope / (r^slope + m^slope), m the median of the linked pages; others get 1/2.
std::vector<float> SaturatedRanks(const LinkGraph& graph, const std::vector<double>& ranks,
                                  double slope) {
  std::vector<double> linked;
  for (uint32_t page = 0; page < graph.page_count(); ++page) {
    if (graph.is_linked(page)) linked.push_back(ranks[page]);
  }
  std::vector<float> saturated(ranks.size(), kNeutralStaticRank);
  if (linked.empty()) return saturated;
  const auto middle = linked.begin() + static_cast<ptrdiff_t>(linked.size() / 2);
  std::nth_element(linked.begin(), middle, linked.end());
  for (uint32_t page = 0; page < graph.page_count(); ++page) {
    if (!graph.is_linked(page)) continue;
    saturated[page] = static_cast<float>(1 / (1 + std::pow(*middle / ranks[page], slope)));
  }
  return saturated;
}

}  // namespace

StatusOr<LinkedPages> LinkedPages::Read(const std::string& documents_path) {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<CorpusDocument> documents, ReadDocuments(documents_path));
  LinkedPages read;
  absl::flat_hash_map<std::string, uint32_t> numbers;
  for (CorpusDocument& document : documents) {
    const auto number = static_cast<uint32_t>(numbers.size());
    if (!numbers.emplace(document.url, number).second) continue;
    read.pages_.push_back({document.url, document.title, document.site, document.headings, {}});
  }
  for (const CorpusDocument& document : documents) {
    const uint32_t from = numbers.at(document.url);
    const auto add = [&](const std::string& target, const std::string& text) {
      const auto found = numbers.find(target);
      if (found == numbers.end() || found->second == from) return;
      read.links_.push_back({from, found->second, text, NameKey(text)});
      if (!text.empty()) read.pages_[found->second].link_texts.push_back(text);
    };
    for (const std::string& target : document.links) add(target, "");
    for (const Anchor& anchor : document.anchors) add(anchor.target, anchor.text);
  }
  return read;
}

std::vector<const LinkedPages::Link*> LinkedPages::KeptLinks(const HeldBackKeys& held_back) const {
  // Pairs of pages with a link whose text is held back, and with another text.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, bool> has_other;
  for (const Link& link : links_) {
    if (link.text.empty()) continue;
    if (IsHeldBack(held_back, pages_[link.to].url, link.key)) {
      has_other.try_emplace({link.from, link.to}, false);
    } else {
      has_other[{link.from, link.to}] = true;
    }
  }
  std::vector<const Link*> kept;
  for (const Link& link : links_) {
    const auto found = has_other.find({link.from, link.to});
    const bool is_held_back = link.text.empty()
                                  ? found != has_other.end() && !found->second
                                  : IsHeldBack(held_back, pages_[link.to].url, link.key);
    if (!is_held_back) kept.push_back(&link);
  }
  return kept;
}

std::string LinkedPages::HeadingLines(uint32_t page, uint32_t copies,
                                      const HeldBackKeys& held_back) const {
  std::string lines;
  for (const std::string& heading : pages_[page].headings) {
    if (IsHeldBack(held_back, pages_[page].url, NameKey(heading))) continue;
    for (uint32_t i = 0; i < copies; ++i) lines += heading + "\n";
  }
  return lines;
}

LinkEvidenceByUrl LinkedPages::Evidence(const EvidenceOptions& options,
                                        const HeldBackKeys& held_back) const {
  const auto page_count = static_cast<uint32_t>(pages_.size());
  std::vector<LinkTexts> texts(page_count);
  std::vector<LinkGraph::Link> edges;
  for (const Link* link : KeptLinks(held_back)) {
    edges.emplace_back(link->from, link->to);
    texts[link->to].Add(link->text, options.link_texts);
  }
  const LinkGraph graph(page_count, std::move(edges));
  LinkEvidenceByUrl evidence;
  if (graph.link_count() == 0 && options.heading_copies == 0) return evidence;
  const std::vector<double> page_ranks = ComputePageRank(graph);
  const std::vector<float> ranks = options.rank_slope > 0
                                       ? SaturatedRanks(graph, page_ranks, options.rank_slope)
                                       : StaticRanks(graph, page_ranks);
  for (uint32_t i = 0; i < page_count; ++i) {
    std::string extra = texts[i].Lines(options.link_texts);
    extra += HeadingLines(i, options.heading_copies, held_back);
    evidence[pages_[i].url] = {.extra_text = std::move(extra), .static_rank = ranks[i]};
  }
  return evidence;
}

}  // namespace search::tools
