#include "tools/build_index/page_rank.h"

#include <algorithm>
#include <cmath>

namespace search::tools {

LinkGraph::LinkGraph(uint32_t page_count, std::vector<Link> links)
    : out_counts_(page_count), offsets_(size_t{page_count} + 1) {
  std::erase_if(links, [page_count](const Link& link) {
    return link.first == link.second || link.first >= page_count || link.second >= page_count;
  });
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });
  links.erase(std::unique(links.begin(), links.end()), links.end());
  sources_.reserve(links.size());
  for (const auto& [from, to] : links) {
    ++out_counts_[from];
    ++offsets_[to + 1];
    sources_.push_back(from);
  }
  for (size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
}

std::vector<double> ComputePageRank(const LinkGraph& graph, const PageRankOptions& options) {
  const uint32_t count = graph.page_count();
  std::vector<double> ranks(count, count == 0 ? 0 : 1.0 / count);
  std::vector<double> next(count);
  // Rank that a page passes over each of its links.
  std::vector<double> gifts(count);
  for (int i = 0; i < options.iterations_max && count > 0; ++i) {
    double dangling = 0;
    for (uint32_t page = 0; page < count; ++page) {
      if (graph.out_count(page) == 0) {
        dangling += ranks[page];
      } else {
        gifts[page] = ranks[page] / graph.out_count(page);
      }
    }
    const double base = (1 - options.damping + options.damping * dangling) / count;
    double change = 0;
    for (uint32_t page = 0; page < count; ++page) {
      double received = 0;
      for (const uint32_t source : graph.sources(page)) received += gifts[source];
      next[page] = base + options.damping * received;
      change += std::abs(next[page] - ranks[page]);
    }
    ranks.swap(next);
    if (change < options.change_min) break;
  }
  return ranks;
}

std::vector<float> StaticRanks(const LinkGraph& graph, const std::vector<double>& ranks) {
  std::vector<double> linked;
  for (uint32_t page = 0; page < graph.page_count(); ++page) {
    if (graph.is_linked(page)) linked.push_back(std::log(ranks[page]));
  }
  std::vector<float> result(ranks.size(), kNeutralStaticRank);
  if (linked.empty()) return result;
  const auto [least, greatest] = std::minmax_element(linked.begin(), linked.end());
  const double low = *least;
  const double width = *greatest - low;
  if (width < 1e-12) return result;
  const auto middle = linked.begin() + static_cast<ptrdiff_t>(linked.size() / 2);
  std::nth_element(linked.begin(), middle, linked.end());
  const double median = *middle;
  for (uint32_t page = 0; page < graph.page_count(); ++page) {
    const double value = graph.is_linked(page) ? std::log(ranks[page]) : median;
    result[page] = static_cast<float>(std::clamp((value - low) / width, 0.0, 1.0));
  }
  return result;
}

}  // namespace search::tools
