// Positions of a tree are ranks below, i.e. servers in the order of step 3, which is also the
// tree's breadth-first order. Invariants: the children of a rank are adjacent, children of earlier
// ranks precede those of later ones, and no rank has more children or a larger subtree than an
// earlier one.

#include "neptune/dac/reduction_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

constexpr int32_t kNoParent = -1;

// Chosen so that sums of these and of kReductionServerCountMax reductions fit in 63 bits.
constexpr Duration kLoadMax{int64_t{1} << 60};
constexpr Duration kReduceCostMax{int64_t{1} << 44};

constexpr std::array<std::pair<TreeScheme, std::string_view>, 4> kSchemeNames = {{
    {TreeScheme::kBase, "base"},
    {TreeScheme::kFlat, "flat"},
    {TreeScheme::kBinomial, "binomial"},
    {TreeScheme::kLoadAdaptive, "lat"},
}};

uint32_t CeilLog2(uint32_t value) { return static_cast<uint32_t>(std::bit_width(value - 1)); }
uint32_t FloorLog2(uint32_t value) { return static_cast<uint32_t>(std::bit_width(value)) - 1; }

// Binomial tree of any size: 0 is the root, and the parent of i is i without its lowest set bit. A
// subtree of t positions is again such a tree; its root has CeilLog2(t) children and its height is
// FloorLog2(t).
uint32_t BinomialParent(uint32_t i) { return i & (i - 1); }
uint32_t BinomialDepth(uint32_t i) { return static_cast<uint32_t>(std::popcount(i)); }
uint32_t BinomialSubtreeSize(uint32_t i, uint32_t size) {
  return i == 0 ? size : std::min(i & -i, size - i);
}

std::vector<int32_t> FlatParents(size_t count, RandomSource& random) {
  const size_t root = random.Below(count);
  std::vector<int32_t> parents(count, static_cast<int32_t>(root));
  parents[root] = kNoParent;
  return parents;
}

std::vector<int32_t> BinomialParents(size_t count, RandomSource& random) {
  std::vector<uint32_t> servers(count);
  std::iota(servers.begin(), servers.end(), 0);
  std::shuffle(servers.begin(), servers.end(), random);
  std::vector<int32_t> parents(count, kNoParent);
  for (uint32_t i = 1; i < count; ++i) {
    parents[servers[i]] = static_cast<int32_t>(servers[BinomialParent(i)]);
  }
  return parents;
}

// A server and its work including one more reduction.
struct Candidate {
  Duration work;
  uint64_t salt;  // breaks ties
  uint32_t server;

  bool operator<(const Candidate& other) const {  // less work is greater, for a max-heap
    return std::tie(other.work, other.salt, other.server) < std::tie(work, salt, server);
  }
};

Duration ReduceCost(const TreeServer& server) {
  return std::clamp(server.reduce_cost, Duration(1), kReduceCostMax);
}

Duration OwnWork(const TreeServer& server) {
  return std::clamp(server.load, Duration(0), kLoadMax) +
         std::clamp(server.local_cost, Duration(0), kLoadMax);
}

// A server in the order of step 3.
struct RankedServer {
  uint32_t reduction_count;
  uint32_t server;
  Duration work;  // with its reductions
  Duration reduce_cost;
  uint64_t salt;

  bool operator<(const RankedServer& other) const {
    if (reduction_count != other.reduction_count) return reduction_count > other.reduction_count;
    return std::tie(work, reduce_cost, salt, server) <
           std::tie(other.work, other.reduce_cost, other.salt, other.server);
  }
};

std::vector<RankedServer> RankServers(std::span<const TreeServer> servers,
                                      const std::vector<uint32_t>& reduction_counts,
                                      RandomSource& random) {
  std::vector<RankedServer> ranked;
  ranked.reserve(servers.size());
  for (uint32_t i = 0; i < servers.size(); ++i) {
    const Duration reduce_cost = ReduceCost(servers[i]);
    const Duration work = OwnWork(servers[i]) + reduction_counts[i] * reduce_cost;
    ranked.push_back({reduction_counts[i], i, work, reduce_cost, random.Next()});
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

// Builds the tree of steps 3 and 4 over ranks.
class Shape {
 public:
  // REQUIRES: the reduction counts are descending, and their sum is ranked.size() - 1.
  explicit Shape(const std::vector<RankedServer>& ranked);

  // Step 4.
  void ReplaceLinkedLists();

  int32_t parent(size_t rank) const { return parents_[rank]; }

 private:
  size_t size() const { return parents_.size(); }
  uint32_t ChildCount(size_t rank) const {
    return first_children_[rank + 1] - first_children_[rank];
  }
  size_t KeptCount() const;
  bool Agrees(size_t kept_count) const;
  void ReplaceFrom(size_t kept_count);

  std::vector<int32_t> parents_;
  std::vector<uint32_t> first_children_;  // by rank, and one past the last
  std::vector<uint32_t> depths_;
  std::vector<uint32_t> subtree_sizes_;
};

Shape::Shape(const std::vector<RankedServer>& ranked)
    : parents_(ranked.size(), kNoParent),
      first_children_(ranked.size() + 1),
      depths_(ranked.size(), 0),
      subtree_sizes_(ranked.size(), 1) {
  uint32_t next = 1;
  for (size_t rank = 0; rank < size(); ++rank) {
    first_children_[rank] = next;
    for (uint32_t i = 0; i < ranked[rank].reduction_count; ++i, ++next) {
      parents_[next] = static_cast<int32_t>(rank);
      depths_[next] = depths_[rank] + 1;
    }
  }
  first_children_[size()] = next;
  for (size_t rank = size() - 1; rank > 0; --rank) {
    subtree_sizes_[static_cast<size_t>(parents_[rank])] += subtree_sizes_[rank];
  }
}

void Shape::ReplaceLinkedLists() {
  const size_t kept_count = KeptCount();
  if (kept_count < size()) ReplaceFrom(kept_count);
}

// Returns the number of ranks that keep their children; the subtrees below them are replaced.
size_t Shape::KeptCount() const {
  size_t kept_count = 0;
  while (kept_count < size() && ChildCount(kept_count) >= 2) ++kept_count;
  const bool has_long_list = kept_count < size() && subtree_sizes_[kept_count] > 2;
  if (!has_long_list) return size();
  while (!Agrees(kept_count)) --kept_count;
  return kept_count;
}

// True if the tree has both properties when the first `kept_count` ranks keep their children. It
// suffices to compare the last kept rank with the first replaced subtree, which is the largest: the
// rank must have at least as many children as that subtree's root gets and, if both are at the same
// depth, a subtree that is at least as deep.
bool Shape::Agrees(size_t kept_count) const {
  if (kept_count == 0) return true;
  const size_t last_kept = kept_count - 1;
  const uint32_t replaced_size = subtree_sizes_[kept_count];
  if (ChildCount(last_kept) < CeilLog2(replaced_size)) return false;
  if (depths_[last_kept] != depths_[kept_count]) return true;
  const uint32_t child_size = subtree_sizes_[first_children_[last_kept]];
  return 1 + FloorLog2(child_size) >= FloorLog2(replaced_size);
}

// A position of the binomial trees that replace subtrees.
struct Position {
  uint32_t child_count;
  uint32_t depth;
  uint32_t subtree_size;
  uint32_t index;   // in the list of all positions
  uint32_t parent;  // index of the parent; for a root: the rank of its parent
  bool is_root;

  // Orders positions by the servers that they get: those for lighter servers come first.
  bool operator<(const Position& other) const {
    if (child_count != other.child_count) return child_count > other.child_count;
    if (depth != other.depth) return depth < other.depth;
    if (subtree_size != other.subtree_size) return subtree_size > other.subtree_size;
    return index < other.index;
  }
};

void AddBinomialTree(uint32_t size, uint32_t depth, int32_t parent,
                     std::vector<Position>* positions) {
  const auto first = static_cast<uint32_t>(positions->size());
  for (uint32_t i = 0; i < size; ++i) {
    const uint32_t subtree_size = BinomialSubtreeSize(i, size);
    const uint32_t above = i == 0 ? static_cast<uint32_t>(parent) : first + BinomialParent(i);
    positions->push_back(
        {CeilLog2(subtree_size), depth + BinomialDepth(i), subtree_size, first + i, above, i == 0});
  }
}

// Replaces the subtrees of the ranks from `kept_count` to the last child of a kept rank.
void Shape::ReplaceFrom(size_t kept_count) {
  std::vector<Position> positions;
  positions.reserve(size() - kept_count);
  const size_t roots_end = kept_count == 0 ? 1 : first_children_[kept_count];
  for (size_t root = kept_count; root < roots_end; ++root) {
    AddBinomialTree(subtree_sizes_[root], depths_[root], parents_[root], &positions);
  }
  std::sort(positions.begin(), positions.end());
  std::vector<int32_t> ranks(positions.size());  // rank of each position, by index
  for (size_t i = 0; i < positions.size(); ++i) {
    ranks[positions[i].index] = static_cast<int32_t>(kept_count + i);
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    const uint32_t above = positions[i].parent;
    parents_[kept_count + i] = positions[i].is_root ? static_cast<int32_t>(above) : ranks[above];
  }
}

std::vector<int32_t> LoadAdaptiveParents(std::span<const TreeServer> servers,
                                         RandomSource& random) {
  const std::vector<RankedServer> ranked =
      RankServers(servers, AssignReductions(servers, random), random);
  Shape shape(ranked);
  shape.ReplaceLinkedLists();
  std::vector<int32_t> parents(servers.size(), kNoParent);
  for (size_t rank = 1; rank < ranked.size(); ++rank) {
    parents[ranked[rank].server] =
        static_cast<int32_t>(ranked[static_cast<size_t>(shape.parent(rank))].server);
  }
  return parents;
}

Status CheckCount(size_t count) {
  if (count == 0) return InvalidArgument("a reduction tree needs at least one server");
  if (count > kReductionServerCountMax) {
    return InvalidArgument("a reduction tree of ", count, " servers exceeds the limit of ",
                           kReductionServerCountMax);
  }
  return OkStatus();
}

}  // namespace

StatusOr<TreeScheme> ParseTreeScheme(std::string_view name) {
  for (const auto& [scheme, known] : kSchemeNames) {
    if (name == known) return scheme;
  }
  return InvalidArgument("'", name, "' is not a tree scheme; expected base, flat, binomial or lat");
}

std::string_view Name(TreeScheme scheme) {
  for (const auto& [known, name] : kSchemeNames) {
    if (scheme == known) return name;
  }
  return "unknown";
}

StatusOr<ReductionTree> ReductionTree::FromParents(std::vector<int32_t> parents) {
  NEPTUNE_RETURN_IF_ERROR(CheckCount(parents.size()));
  ReductionTree tree;
  tree.parents_ = std::move(parents);
  NEPTUNE_RETURN_IF_ERROR(tree.ListChildren());
  NEPTUNE_RETURN_IF_ERROR(tree.Measure());
  return tree;
}

// Counting sort: a server's children begin after the children of all servers before it.
Status ReductionTree::ListChildren() {
  const auto count = static_cast<int32_t>(size());
  child_offsets_.assign(size() + 1, 0);
  size_t root_count = 0;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t above = parents_[i];
    if (above < kNoParent || above >= count) {
      return InvalidArgument("server ", i, " of ", count, " has the invalid parent ", above);
    }
    if (above == kNoParent) {
      root_ = static_cast<size_t>(i);
      ++root_count;
    } else {
      ++child_offsets_[above + 1];
    }
  }
  if (root_count != 1) return InvalidArgument("a reduction tree needs one root, not ", root_count);
  std::partial_sum(child_offsets_.begin(), child_offsets_.end(), child_offsets_.begin());
  children_.resize(size() - 1);
  std::vector<uint32_t> next(child_offsets_.begin(), child_offsets_.end() - 1);
  for (int32_t i = 0; i < count; ++i) {
    if (parents_[i] != kNoParent) children_[next[parents_[i]]++] = static_cast<uint32_t>(i);
  }
  return OkStatus();
}

// Computes depths from the root down, then sizes from the leaves up, then the final order of
// children.
Status ReductionTree::Measure() {
  std::vector<uint32_t> order = {static_cast<uint32_t>(root_)};
  order.reserve(size());
  depths_.assign(size(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    for (const uint32_t child : Children(order[i])) {
      depths_[child] = depths_[order[i]] + 1;
      order.push_back(child);
    }
  }
  if (order.size() != size()) {
    return InvalidArgument("the root of the reduction tree reaches only ", order.size(), " of ",
                           size(), " servers");
  }
  height_ = depths_[order.back()];
  subtree_sizes_.assign(size(), 1);
  for (size_t i = size() - 1; i > 0; --i) {
    subtree_sizes_[static_cast<size_t>(parents_[order[i]])] += subtree_sizes_[order[i]];
  }
  const auto larger = [this](uint32_t a, uint32_t b) {
    return subtree_sizes_[a] != subtree_sizes_[b] ? subtree_sizes_[a] > subtree_sizes_[b] : a < b;
  };
  for (size_t i = 0; i < size(); ++i) {
    const auto first = children_.begin() + child_offsets_[i];
    const auto last = children_.begin() + child_offsets_[i + 1];
    if (!std::is_sorted(first, last, larger)) std::sort(first, last, larger);
  }
  return OkStatus();
}

std::vector<uint32_t> AssignReductions(std::span<const TreeServer> servers, RandomSource& random) {
  std::vector<Candidate> candidates;
  candidates.reserve(servers.size());
  for (uint32_t i = 0; i < servers.size(); ++i) {
    candidates.push_back({OwnWork(servers[i]) + ReduceCost(servers[i]), random.Next(), i});
  }
  std::make_heap(candidates.begin(), candidates.end());
  std::vector<uint32_t> reduction_counts(servers.size(), 0);
  for (size_t i = 1; i < servers.size(); ++i) {
    std::pop_heap(candidates.begin(), candidates.end());
    Candidate& chosen = candidates.back();
    ++reduction_counts[chosen.server];
    chosen.work += ReduceCost(servers[chosen.server]);
    std::push_heap(candidates.begin(), candidates.end());
  }
  return reduction_counts;
}

StatusOr<ReductionTree> FormTree(TreeScheme scheme, std::span<const TreeServer> servers,
                                 RandomSource& random) {
  NEPTUNE_RETURN_IF_ERROR(CheckCount(servers.size()));
  switch (scheme) {
    case TreeScheme::kBase:
      break;
    case TreeScheme::kFlat:
      return ReductionTree::FromParents(FlatParents(servers.size(), random));
    case TreeScheme::kBinomial:
      return ReductionTree::FromParents(BinomialParents(servers.size(), random));
    case TreeScheme::kLoadAdaptive:
      return ReductionTree::FromParents(LoadAdaptiveParents(servers, random));
  }
  return InvalidArgument("scheme ", Name(scheme), " has no tree: the caller aggregates");
}

}  // namespace neptune
