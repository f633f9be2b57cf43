#include "frontend/render/html/coverage_section.h"

#include <string>
#include <string_view>
#include <vector>

#include "frontend/render/html/table.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

std::string MissingCell(const ServiceCoverage& service) {
  std::string cell;
  size_t named = 0;
  for (const MissingPartition& missing : service.missing) {
    if (named++ == kMissingSentencesMax) {
      StrAppend(&cell, " and ", service.missing.size() - kMissingSentencesMax, " more");
      break;
    }
    StrAppend(&cell, cell.empty() ? "" : ", ", missing.partition, " (", missing.reason, ")");
  }
  const std::vector<uint32_t> in_part = service.answered_in_part();
  if (!in_part.empty()) {
    StrAppend(&cell, cell.empty() ? "" : ", ", "part of ", Listed(in_part), " (ended early)");
  } else if (!service.evaluated_completely) {
    StrAppend(&cell, cell.empty() ? "" : ", ", "time ran out");
  }
  return cell.empty() ? "none" : cell;
}

void WriteRow(MarkupWriter& html, std::string_view service, std::string_view answered,
              std::string_view missing, std::string_view implementation) {
  const Element row(html, "tr");
  html.TextElement("th", service, {{"scope", "row"}});
  html.TextElement("td", answered, {{"class", "number"}});
  html.TextElement("td", missing);
  html.TextElement("td", implementation.empty() ? "–" : implementation);
}

void WriteServiceRow(MarkupWriter& html, const ServiceCoverage& service) {
  WriteRow(html, Capitalised(service.service),
           StrCat(service.partitions_answered(), " of ", service.partitions_asked),
           MissingCell(service), service.implementation);
}

std::string CacheCell(const SearchAnswer& answer) {
  const CacheUse& cache = answer.coverage.cache;
  if (cache.outcome != CacheUse::Outcome::kHit) return std::string(OutcomeName(cache.outcome));
  return StrCat(cache.newer_version == 0 ? "hit" : "hit, of the former index", ", computed ",
                ComputedAt(answer));
}

void WriteServices(MarkupWriter& html, const SearchAnswer& answer) {
  const Coverage& coverage = answer.coverage;
  WriteTable(html, "Services asked for this answer",
             {"Service", "Answered", "Missing", "Implementation"}, [&] {
               for (const ServiceCoverage& tier : coverage.tiers) WriteServiceRow(html, tier);
               if (coverage.documents.partitions_asked > 0) {
                 WriteServiceRow(html, coverage.documents);
               }
               WriteRow(html, "Cache", CacheCell(answer), "none", coverage.cache.implementation);
             });
}

}  // namespace

void WritePartialBanner(MarkupWriter& html, const Coverage& coverage) {
  if (coverage.complete()) return;
  const Element banner(html, "div", {{"class", "banner"}, {"role", "status"}});
  {
    const Element line(html, "p");
    html.TextElement("strong", "This answer is incomplete.");
    if (coverage.partitions_answered() < coverage.partitions_asked()) {
      html.Text(" Better results may be missing; the same search may find more in a moment.");
    }
  }
  const Element list(html, "ul");
  for (const std::string& sentence : MissingSentences(coverage)) {
    html.TextElement("li", sentence);
  }
}

void WriteCoverageDetails(MarkupWriter& html, const SearchAnswer& answer) {
  const Element details(html, "details", {{"class", "coverage"}});
  html.TextElement("summary", Capitalised(CoverageSentence(answer)));
  WriteServices(html, answer);
  html.TextElement("p", ClaimSentence(answer.coverage));
}

}  // namespace search::frontend
