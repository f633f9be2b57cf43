#include "tools/bench_index/timing_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

#include "neptune/base/strings.h"

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

std::vector<double> Values(const std::map<std::string, double>& times) {
  std::vector<double> values;
  for (const auto& [query, time] : times) values.push_back(time);
  return values;
}

// Geometric mean of a / b over the queries of both; 0 if there is none.
double MeanRatio(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  double sum = 0;
  size_t count = 0;
  for (const auto& [query, time] : a) {
    const auto other = b.find(query);
    if (other == b.end()) continue;
    sum += std::log(time / other->second);
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / static_cast<double>(count));
}

template <typename... Args>
void AppendFormatted(std::string* out, const char* format, Args... args) {
  char line[256];
  const int size = std::snprintf(line, sizeof(line), format, args...);
  if (size > 0) out->append(line, std::min<size_t>(static_cast<size_t>(size), sizeof(line) - 1));
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
  Times& times = times_[{command, ClassOf(query)}][engine];
  const double time = std::max(kTimeMin, microseconds);
  const auto [at, added] = times.try_emplace(query, time);
  if (!added) at->second = std::min(at->second, time);
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
    return neptune::InvalidArgument("line ", number, " is no line of times");
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
      const std::vector<double> values = Values(times);
      AppendFormatted(&out, "%-14s %-13s %-12s %5zu %9.1f %9.1f %9.1f\n", key.first.c_str(),
                      std::string(NameOf(key.second)).c_str(), name.c_str(), values.size(),
                      Percentile(values, 0.5), Percentile(values, 0.9), Percentile(values, 0.99));
    }
  }
  return out;
}

std::string TimingTable::Comparison(const std::string& ours) const {
  std::string out;
  AppendFormatted(&out, "%-14s %-13s %5s %9s %9s  %-10s %9s %9s %13s\n", "command", "class", "n",
                  "p50 us", "p99 us", "best peer", "p50 us", "p99 us", "times faster");
  for (const auto& [key, engines] : times_) {
    const auto own = engines.find(ours);
    if (own == engines.end()) continue;
    const std::vector<double> values = Values(own->second);
    AppendFormatted(&out, "%-14s %-13s %5zu %9.1f %9.1f", key.first.c_str(),
                    std::string(NameOf(key.second)).c_str(), values.size(), Percentile(values, 0.5),
                    Percentile(values, 0.99));
    double least = 0;
    const std::pair<const std::string, Times>* best = nullptr;
    for (const auto& engine : engines) {
      const double ratio = engine.first == ours ? 0 : MeanRatio(engine.second, own->second);
      if (ratio == 0 || (best != nullptr && ratio >= least)) continue;
      least = ratio;
      best = &engine;
    }
    if (best != nullptr) {
      const std::vector<double> peer = Values(best->second);
      AppendFormatted(&out, "  %-10s %9.1f %9.1f %13.2f", best->first.c_str(),
                      Percentile(peer, 0.5), Percentile(peer, 0.99), least);
    }
    out += '\n';
  }
  return out;
}

}  // namespace search::tools
