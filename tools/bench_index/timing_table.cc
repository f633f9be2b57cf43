#include "tools/bench_index/timing_table.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "neptune/base/strings.h"
#include "tools/bench_index/format_text.h"

namespace search::tools {
namespace {

constexpr size_t kColumnCount = 7;
constexpr size_t kTimeColumn = 4;
// Times below a clock's step would divide by 0.
constexpr double kTimeMin = 0.001;

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<size_t>(share * static_cast<double>(values.size()));
  return values[std::min(values.size() - 1, at)];
}

void TimingTable::Add(const std::string& engine, const std::string& command,
                      const std::string& query, double microseconds) {
  const double time = std::max(kTimeMin, microseconds);
  for (const QueryClass query_class : ClassesOf(query)) {
    const auto [at, added] = times_[{command, query_class}][engine].try_emplace(query, time);
    if (!added) at->second = std::min(at->second, time);
  }
}

neptune::Status TimingTable::AddTsv(std::string_view tsv) {
  size_t number = 0;
  for (const std::string_view line : SplitAt(tsv, '\n')) {
    if (++number == 1 || line.empty()) continue;
    const std::vector<std::string_view> columns = SplitAt(line, '\t');
    double time = 0;
    if (columns.size() == kColumnCount) {
      const std::string_view text = columns[kTimeColumn];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
      if (error == std::errc() && end == text.data() + text.size() && time >= 0) {
        Add(std::string(columns[0]), std::string(columns[1]), std::string(columns[2]), time);
        continue;
      }
    }
    return neptune::InvalidArgument("line ", number, " is not a line of times");
  }
  return neptune::OkStatus();
}

std::vector<std::string> TimingTable::engines() const {
  std::set<std::string> names;
  for (const auto& [key, engines] : times_) {
    for (const auto& [name, times] : engines) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string TimingTable::Summary() const {
  std::string out;
  AppendFormatted(&out, "%-14s %-13s %-12s %5s %9s %9s %9s\n", "command", "class", "engine", "n",
                  "p50 us", "p90 us", "p99 us");
  for (const auto& [key, engines] : times_) {
    for (const auto& [name, times] : engines) {
      std::vector<double> values;
      for (const auto& [query, time] : times) values.push_back(time);
      AppendFormatted(&out, "%-14s %-13s %-12s %5zu %9.1f %9.1f %9.1f\n", key.first.c_str(),
                      std::string(NameOf(key.second)).c_str(), name.c_str(), values.size(),
                      Percentile(values, 0.5), Percentile(values, 0.9), Percentile(values, 0.99));
    }
  }
  return out;
}

}  // namespace search::tools
