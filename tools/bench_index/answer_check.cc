#include "tools/bench_index/answer_check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/bench_index/format_text.h"
#include "tools/bench_index/timing_table.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;

constexpr std::string_view kNoCount = "-";
constexpr std::string_view kUnsupported = "UNSUPPORTED";

struct Hit {
  std::string_view id;
  double score = 0;
};

struct Answer {
  bool is_supported = true;
  std::string_view count;
  std::vector<Hit> hits;
};

// The text before the separator, or all; *rest is what follows it.
std::string_view ConsumeUntil(char separator, std::string_view* rest) {
  const std::string_view head = rest->substr(0, rest->find(separator));
  rest->remove_prefix(std::min(rest->size(), head.size() + 1));
  return head;
}

StatusOr<Answer> ReadAnswer(std::string_view line) {
  Answer answer;
  if (line == kUnsupported) {
    answer.is_supported = false;
    return answer;
  }
  if (line.find('\t') == std::string_view::npos) return InvalidArgument("no tab in an answer");
  answer.count = ConsumeUntil('\t', &line);
  while (!line.empty()) {
    const std::string_view text = ConsumeUntil(' ', &line);
    if (text.empty()) continue;
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return InvalidArgument("a hit without a score");
    Hit& hit = answer.hits.emplace_back();
    hit.id = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, end, hit.score);
    if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(hit.score)) {
      return InvalidArgument("a score is not a number");
    }
  }
  return answer;
}

class Agreements {
 public:
  void Add(std::string_view command, std::string_view query, const Answer& ours,
           const Answer& peer) {
    const QueryClass query_class = ClassOf(query);
    const auto [place, added] = places_.try_emplace({command, query_class}, rows_.size());
    if (added) {
      rows_.push_back({.command = std::string(command), .query_class = query_class});
      differences_.emplace_back();
    }
    if (!ours.is_supported || !peer.is_supported) return;
    ClassAgreement& row = rows_[place->second];
    ++row.answered;
    AddCounts(query, ours, peer, &row);
    AddHits(query, ours, peer, &row, &differences_[place->second]);
  }

  std::vector<ClassAgreement> Finish() {
    for (size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].score_difference_p50 = Percentile(differences_[i], 0.5);
      rows_[i].score_difference_max = Percentile(differences_[i], 1);
    }
    return std::move(rows_);
  }

 private:
  static void AddCounts(std::string_view query, const Answer& ours, const Answer& peer,
                        ClassAgreement* row) {
    if (ours.count == kNoCount || peer.count == kNoCount) return;
    ++row->counts;
    if (ours.count == peer.count) {
      ++row->equal_counts;
    } else if (row->first_difference.empty()) {
      row->first_difference =
          neptune::StrCat(query, ": count ", ours.count, ", the peer's ", peer.count);
    }
  }

  static void AddHits(std::string_view query, const Answer& ours, const Answer& peer,
                      ClassAgreement* row, std::vector<double>* differences) {
    if (ours.hits.size() == peer.hits.size()) {
      ++row->equal_lengths;
    } else if (row->first_difference.empty()) {
      row->first_difference =
          neptune::StrCat(query, ": ", ours.hits.size(), " hits, the peer's ", peer.hits.size());
    }
    std::set<std::string_view> ids;
    for (const Hit& hit : ours.hits) ids.insert(hit.id);
    row->hits += peer.hits.size();
    for (const Hit& hit : peer.hits) row->common_hits += ids.count(hit.id);
    for (size_t i = 0; i < std::min(ours.hits.size(), peer.hits.size()); ++i) {
      if (peer.hits[i].score <= 0) continue;
      differences->push_back(std::abs(ours.hits[i].score / peer.hits[i].score - 1));
    }
  }

  std::map<std::pair<std::string_view, QueryClass>, size_t> places_;
  std::vector<ClassAgreement> rows_;
  std::vector<std::vector<double>> differences_;  // as rows_
};

}  // namespace

StatusOr<std::vector<ClassAgreement>> CompareAnswers(std::string_view commands,
                                                     std::string_view ours, std::string_view peer) {
  Agreements agreements;
  for (size_t number = 1; !commands.empty(); ++number) {
    std::string_view query = ConsumeUntil('\n', &commands);
    if (query.empty()) continue;
    if (ours.empty() || peer.empty()) {
      return InvalidArgument("line ", number, ": too few answers");
    }
    const auto own = ReadAnswer(ConsumeUntil('\n', &ours));
    const auto other = ReadAnswer(ConsumeUntil('\n', &peer));
    for (const Status& status : {own.status(), other.status()}) {
      if (!status.ok()) return neptune::Annotate(status, neptune::StrCat("line ", number));
    }
    const std::string_view command = ConsumeUntil('\t', &query);
    agreements.Add(command, query, *own, *other);
  }
  return agreements.Finish();
}

std::string FormatAgreement(const std::vector<ClassAgreement>& agreement) {
  std::string out;
  AppendFormatted(&out, "%-13s %-13s %9s %17s %16s %13s %18s %9s\n", "command", "class", "answered",
                  "counts differing", "lists of other n", "common hits", "score differs: p50",
                  "most");
  for (const ClassAgreement& row : agreement) {
    const double common =
        row.hits == 0 ? 1 : static_cast<double>(row.common_hits) / static_cast<double>(row.hits);
    AppendFormatted(&out, "%-13s %-13s %9zu %17zu %16zu %12.1f%% %17.2f%% %8.2f%%\n",
                    row.command.c_str(), std::string(NameOf(row.query_class)).c_str(), row.answered,
                    row.counts - row.equal_counts, row.answered - row.equal_lengths, 100 * common,
                    100 * row.score_difference_p50, 100 * row.score_difference_max);
    if (!row.first_difference.empty()) out += "    " + row.first_difference + "\n";
  }
  return out;
}

}  // namespace search::tools
