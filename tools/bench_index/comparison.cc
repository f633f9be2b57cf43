#include "tools/bench_index/comparison.h"

#include <cmath>
#include <optional>

#include "tools/bench_index/format_text.h"

namespace search::tools {
namespace {

// Times of the queries that both answered, in the same order.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> peer;
};

Pairs PairsOf(const TimingTable::Times& ours, const TimingTable::Times& peer) {
  Pairs pairs;
  for (const auto& [query, time] : ours) {
    const auto other = peer.find(query);
    if (other == peer.end()) continue;
    pairs.ours.push_back(time);
    pairs.peer.push_back(other->second);
  }
  return pairs;
}

// REQUIRES: at least one pair.
double TimesFaster(const Pairs& pairs) {
  double sum = 0;
  for (size_t i = 0; i < pairs.ours.size(); ++i) sum += std::log(pairs.peer[i] / pairs.ours[i]);
  return std::exp(sum / static_cast<double>(pairs.ours.size()));
}

void SetPeer(const std::string& name, const Pairs& pairs, ClassComparison* row) {
  row->peer = name;
  row->times_faster = TimesFaster(pairs);
  row->p50 = Percentile(pairs.ours, 0.5);
  row->p99 = Percentile(pairs.ours, 0.99);
  row->peer_p50 = Percentile(pairs.peer, 0.5);
  row->peer_p99 = Percentile(pairs.peer, 0.99);
}

std::optional<ClassComparison> CompareClass(const TimingTable::EngineTimes& engines,
                                            const std::string& ours) {
  const auto own = engines.find(ours);
  if (own == engines.end()) return std::nullopt;
  const Pairs alone = PairsOf(own->second, own->second);
  ClassComparison row;
  row.query_count = alone.ours.size();
  row.p50 = Percentile(alone.ours, 0.5);
  row.p99 = Percentile(alone.ours, 0.99);
  const double answered_min = kAnsweredShareMin * static_cast<double>(row.query_count);
  for (const auto& [name, times] : engines) {
    if (name == ours) continue;
    const Pairs pairs = PairsOf(own->second, times);
    if (pairs.ours.empty() || static_cast<double>(pairs.ours.size()) < answered_min) continue;
    if (row.peer.empty() || TimesFaster(pairs) < row.times_faster) SetPeer(name, pairs, &row);
  }
  return row;
}

}  // namespace

double SpeedBound(std::string_view command, QueryClass query_class,
                  const BoundConditions& conditions) {
  const bool ranks = command == "TOP_10";
  const bool ranks_many = command == "TOP_100";
  const bool counts = command == "COUNT";
  const bool does_both = command == "TOP_10_COUNT";
  if (!ranks && !ranks_many && !counts && !does_both) return 0;
  switch (query_class) {
    case QueryClass::kIntersection:
    case QueryClass::kUnion:
      if (ranks) return conditions.reordered ? 2 : 1.5;
      if (ranks_many) return conditions.reordered ? 1.5 : 1.2;
      return does_both && query_class == QueryClass::kIntersection ? 1.5 : 2;
    case QueryClass::kLongUnion:
      if (ranks) return 1.5;
      return ranks_many ? 1 : 0;
    case QueryClass::kPhrase:
      if (ranks_many) return 0;
      return conditions.word_sequences ? 1.5 : 1;
    case QueryClass::kMixed:
    case QueryClass::kNegated:
      return 1.2;
    case QueryClass::kTerm:
      break;
  }
  return 0;
}

bool ClassComparison::ReachesBound() const {
  return bound == 0 || (!peer.empty() && times_faster >= bound && p99 <= peer_p99);
}

std::vector<ClassComparison> Compare(const TimingTable& table, const std::string& ours,
                                     const BoundConditions& conditions) {
  std::vector<ClassComparison> rows;
  for (const auto& [key, engines] : table.times()) {
    auto row = CompareClass(engines, ours);
    if (!row) continue;
    row->command = key.first;
    row->query_class = key.second;
    row->bound = SpeedBound(key.first, key.second, conditions);
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::string FormatComparison(const std::vector<ClassComparison>& comparison) {
  std::string out;
  AppendFormatted(&out, "%-13s %-13s %5s %9s %9s  %-12s %9s %9s %13s %6s\n", "command", "class",
                  "n", "p50 us", "p99 us", "best peer", "p50 us", "p99 us", "times faster",
                  "bound");
  for (const ClassComparison& row : comparison) {
    AppendFormatted(&out, "%-13s %-13s %5zu %9.1f %9.1f", row.command.c_str(),
                    std::string(NameOf(row.query_class)).c_str(), row.query_count, row.p50,
                    row.p99);
    if (!row.peer.empty()) {
      AppendFormatted(&out, "  %-12s %9.1f %9.1f %13.2f", row.peer.c_str(), row.peer_p50,
                      row.peer_p99, row.times_faster);
      if (row.bound > 0) {
        AppendFormatted(&out, " %6.1f  %s", row.bound, row.ReachesBound() ? "reached" : "missed");
        if (row.p99 > row.peer_p99) out += ", p99 worse";
      }
    }
    out += '\n';
  }
  const BoundCounts counts = CountBounds(comparison);
  AppendFormatted(&out, "%zu of %zu bounds reached\n", counts.reached, counts.asked);
  return out;
}

BoundCounts CountBounds(const std::vector<ClassComparison>& comparison) {
  BoundCounts counts;
  for (const ClassComparison& row : comparison) {
    if (row.bound == 0 || row.peer.empty()) continue;
    ++counts.asked;
    counts.reached += row.ReachesBound() ? 1 : 0;
  }
  return counts;
}

}  // namespace search::tools
