// PageRank: the share of time that a reader who follows random links spends on each page.
//
// Source: [Brin98]; dangling pages distribute their rank evenly over all pages.
// Departs from source: ranks sum to 1; repeated links and links of a page to itself do not count.
// Pure: no I/O, no clock, no randomness; the same graph gives the same bits.
// Threads: pure functions.
// Shapes: ranks[n] for pages 0 to n-1.
// Limits: at most iterations_max passes over the links; 12 bytes for each link, 24 for each page.

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace search::tools {

// Link graph, ordered by target.
class LinkGraph {
 public:
  using Link = std::pair<uint32_t, uint32_t>;  // from, to

  // Drops self-links, repeated links and links beyond page_count.
  LinkGraph(uint32_t page_count, std::vector<Link> links);

  uint32_t page_count() const { return static_cast<uint32_t>(out_counts_.size()); }
  uint64_t link_count() const { return sources_.size(); }
  uint32_t out_count(uint32_t page) const { return out_counts_[page]; }
  // Returns the pages that link to `page`, ascending.
  std::span<const uint32_t> sources(uint32_t page) const {
    return std::span(sources_).subspan(offsets_[page], offsets_[page + 1] - offsets_[page]);
  }
  bool is_linked(uint32_t page) const { return out_count(page) > 0 || !sources(page).empty(); }

 private:
  std::vector<uint32_t> out_counts_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sources_;
};

struct PageRankOptions {
  // Probability that the reader follows a link instead of jumping to a random page. Larger: links
  // count more, slower convergence. Default: 0.85, as in the paper.
  double damping = 0.85;
  // Convergence threshold: iteration stops when the sum of all changes of a pass is below this.
  double change_min = 1e-9;
  int iterations_max = 200;
};

std::vector<double> ComputePageRank(const LinkGraph& graph, const PageRankOptions& options = {});

// Converts ranks to static ranks in [0, 1] on a logarithmic scale, 0 for the smallest and 1 for the
// largest rank of a linked page. Pages without any link get the median of the others; if there are
// no links, or all ranks are equal, every page gets kNeutralStaticRank.
inline constexpr float kNeutralStaticRank = 0.5f;
std::vector<float> StaticRanks(const LinkGraph& graph, const std::vector<double>& ranks);

}  // namespace search::tools
