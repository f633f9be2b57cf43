#include "frontend/trace/explanation.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontend/trace/trace_spans.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::StrCat;

// Times below this are not explained.
constexpr Duration kWorthExplaining = std::chrono::milliseconds(5);
// A server is named if its wait or work is more than this many times the median.
constexpr int kStandsOut = 2;

std::string Millis(Duration time) { return absl::StrFormat("%.3g ms", neptune::ToMillis(time)); }

std::string Percent(Duration part, Duration whole) {
  if (whole <= Duration(0)) return "0 %";
  return absl::StrFormat(
      "%.0f %%", 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()));
}

std::string Partitions(const std::vector<uint32_t>& partitions) {
  return StrCat(partitions.size() == 1 ? "partition " : "partitions ",
                absl::StrJoin(partitions, ", "));
}

// Adds one sentence for all partitions that are missing for the same reason.
void ExplainMissing(const ServiceCoverage& service, std::vector<std::string>* sentences) {
  std::map<std::string, std::vector<uint32_t>> by_reason;
  for (const MissingPartition& missing : service.missing) {
    by_reason[missing.reason].push_back(missing.partition);
  }
  for (const auto& [reason, partitions] : by_reason) {
    sentences->push_back(StrCat("Partial: ", Partitions(partitions), " of ", service.service,
                                " did not contribute: ", reason, "."));
  }
}

void ExplainCut(const ServiceCoverage& service, std::vector<std::string>* sentences) {
  const std::vector<uint32_t> in_part = service.answered_in_part();
  if (!in_part.empty()) {
    sentences->push_back(StrCat("Cut: ", Partitions(in_part), " of ", service.service,
                                " returned only the best documents found so far, because their "
                                "service's time limit per search was reached."));
  } else if (!service.evaluated_completely) {
    sentences->push_back(StrCat("Cut: some partition of ", service.service,
                                " stopped at its deadline and returned only the best documents "
                                "found so far."));
  }
}

const SearchStep* LongestStep(const SearchTrace& trace) {
  const auto took = [](const SearchStep& step) { return step.end - step.begin; };
  const auto longest =
      std::max_element(trace.steps.begin(), trace.steps.end(),
                       [&](const auto& a, const auto& b) { return took(a) < took(b); });
  return longest == trace.steps.end() ? nullptr : &*longest;
}

// The server of the tier that queued or searched far longer than the others.
void ExplainServers(const ServiceCoverage& tier, std::vector<std::string>* sentences) {
  struct Part {
    std::string_view what;
    Duration (*of)(const TreeServer&);
  };
  const Part parts[] = {{"waited in its queue", [](const TreeServer& s) { return s.queued; }},
                        {"searched", [](const TreeServer& s) {
                           return std::max(Duration(0), s.searched - s.queued);
                         }}};
  for (const Part& part : parts) {
    std::vector<std::pair<Duration, std::string>> times;
    for (const TreeServer& server : tier.tree) {
      if (server.answered && !server.partitions.empty()) {
        times.emplace_back(part.of(server), server.node);
      }
    }
    if (times.size() < 2) continue;
    std::sort(times.begin(), times.end());
    const Duration middle = times[(times.size() - 1) / 2].first;
    const auto& [longest, node] = times.back();
    if (longest >= kWorthExplaining && longest > kStandsOut * middle) {
      sentences->push_back(StrCat("In ", tier.service, ", ", node, " ", part.what, " ",
                                  Millis(longest), ", the median server ", Millis(middle), "."));
    }
  }
  for (const TreeServer& server : tier.tree) {
    if (!server.answered) {
      sentences->push_back(StrCat("In ", tier.service, ", ", server.node, " did not answer."));
    }
  }
}

void ExplainTime(const SearchTrace& trace, std::vector<std::string>* sentences) {
  const SearchStep* const longest = LongestStep(trace);
  if (trace.took < kWorthExplaining || longest == nullptr) return;
  const Duration took = longest->end - longest->begin;
  sentences->push_back(StrCat(
      "It took ", Millis(trace.took), ", most of it, ", Percent(took, trace.took), ", ",
      longest->kind == StepKind::kQueue ? "waiting at" : "in", " the step '", longest->name, "'."));
  const auto parts = PartsOf(trace);
  const auto part = [&](SpanPart which) { return parts[static_cast<size_t>(which)]; };
  sentences->push_back(StrCat("On the critical path: ", Millis(part(SpanPart::kQueue)),
                              " in queues, ", Millis(part(SpanPart::kWork)), " of work, ",
                              Millis(part(SpanPart::kWait)), " waiting for others, ",
                              Millis(part(SpanPart::kMerge)), " merging."));
  for (const ServiceCoverage& tier : trace.coverage.tiers) ExplainServers(tier, sentences);
}

}  // namespace

std::vector<std::string> Explain(const SearchTrace& trace) {
  std::vector<std::string> sentences;
  if (trace.status.code() == neptune::StatusCode::kResourceExhausted) {
    sentences.push_back(StrCat("Refused: ", neptune::ToStd(trace.status.message()), "."));
  } else if (!trace.status.ok()) {
    sentences.push_back(StrCat("Failed: ", neptune::ToStd(trace.status.message()), "."));
  }
  std::vector<const ServiceCoverage*> services;
  for (const ServiceCoverage& tier : trace.coverage.tiers) services.push_back(&tier);
  services.push_back(&trace.coverage.documents);
  for (const ServiceCoverage* const service : services) {
    ExplainMissing(*service, &sentences);
    ExplainCut(*service, &sentences);
    if (service->refused) {
      sentences.push_back(
          StrCat("A partition of ", service->service, " refused it because of overload."));
    }
  }
  if (trace.coverage.cache.outcome == CacheUse::Outcome::kFailed) {
    sentences.push_back("The cache did not answer in time, so the answer was computed.");
  }
  ExplainTime(trace, &sentences);
  if (sentences.empty()) sentences.push_back("The search was fast and complete.");
  return sentences;
}

}  // namespace search::frontend
