#include "frontend/render/wording/wording.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrAppend;
using neptune::StrCat;

std::string Counted(uint64_t count, std::string_view noun) {
  return StrCat(FormatCount(count), " ", noun, count == 1 ? "" : "s");
}

std::string FixedPoint(double value, int digits) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
  return buffer;
}

std::string TiersPhrase(const std::vector<ServiceCoverage>& tiers) {
  if (tiers.empty()) return "no tier";
  if (tiers.size() == 1) return StrCat(tiers[0].service, " only");
  std::string phrase = tiers[0].service;
  for (size_t i = 1; i < tiers.size(); ++i) {
    StrAppend(&phrase, i + 1 == tiers.size() ? " and " : ", ", tiers[i].service);
  }
  return phrase;
}

std::string CachePhrase(const CacheUse& cache) {
  switch (cache.outcome) {
    case CacheUse::Outcome::kHit:
      // When it was computed is said elsewhere: a page may be repeated for a while.
      return cache.newer_version == 0 ? "cached" : "cached, of the former index";
    case CacheUse::Outcome::kMiss:
      return "not cached";
    case CacheUse::Outcome::kBypassed:
      return "cache bypassed";
    case CacheUse::Outcome::kFailed:
      return "cache did not answer";
  }
  return {};
}

void AppendMissing(const ServiceCoverage& service, std::string_view meaning,
                   std::vector<std::string>* sentences, size_t* left_out) {
  for (const MissingPartition& missing : service.missing) {
    if (sentences->size() == kMissingSentencesMax) {
      ++*left_out;
      continue;
    }
    sentences->push_back(StrCat(Capitalised(service.service), ", partition ", missing.partition,
                                ", did not answer (", missing.reason, "): ", meaning));
  }
}

}  // namespace

std::string FormatCount(uint64_t count) {
  std::string digits = StrCat(count);
  for (size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string FormatTook(neptune::Duration took) {
  const double ms = neptune::ToMillis(took);
  if (ms < 9.95) return StrCat(FixedPoint(ms, 1), " ms");
  if (ms < 999.5) return StrCat(FixedPoint(ms, 0), " ms");
  return StrCat(FixedPoint(ms / 1000, 1), " s");
}

std::string FormatWallTime(neptune::WallTime time) {
  const time_t seconds = time.ns_since_1970 / 1'000'000'000;
  tm fields{};
  gmtime_r(&seconds, &fields);
  char buffer[32];
  const size_t size = strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%SZ", &fields);
  return std::string(buffer, size);
}

std::string ComputedAt(const SearchAnswer& answer) {
  return FormatWallTime({answer.answered_at.ns_since_1970 - answer.coverage.cache.age.count()});
}

std::string TotalSentence(const SearchAnswer& answer) {
  if (answer.total == 0 && answer.total_is_exact) return "no results";
  return StrCat(answer.total_is_exact ? "" : "at least ", Counted(answer.total, "result"));
}

std::string RangeSentence(const SearchAnswer& answer) {
  const uint64_t covered = CoveredCount(answer);
  const uint64_t folded = covered - answer.results.size();
  const std::string folding = folded == 0 ? "" : StrCat(", ", FormatCount(folded), " folded");
  const bool is_whole = answer.start == 0 && covered >= answer.total;
  if (answer.results.empty() || is_whole) return TotalSentence(answer) + folding;
  const uint64_t first = uint64_t{answer.start} + 1;
  const uint64_t last = answer.start + covered;
  return StrCat(FormatCount(first), "–", FormatCount(last), " of ", TotalSentence(answer), folding);
}

std::string CoverageSentence(const SearchAnswer& answer) {
  const Coverage& coverage = answer.coverage;
  const uint32_t asked = coverage.partitions_asked();
  std::string sentence;
  if (asked > 0) {
    sentence = StrCat("searched ", coverage.partitions_answered(), " of ",
                      Counted(asked, "partition"), ", ", TiersPhrase(coverage.tiers), ", ");
  }
  StrAppend(&sentence, CachePhrase(coverage.cache), ", ", FormatTook(answer.took));
  return sentence;
}

std::string ClaimSentence(const Coverage& coverage) {
  if (!coverage.complete()) return "The answer is incomplete: the table lists what is missing.";
  if (coverage.equals_single_index()) {
    return "The answer is complete: this page is what one single index would give.";
  }
  const int sure = static_cast<int>(coverage.sure_share * 100);
  return StrCat("Tier 2 was not asked, to save time: ", sure,
                " % of this page is sure to be what one single index would give.");
}

std::vector<std::string> MissingSentences(const Coverage& coverage) {
  std::vector<std::string> sentences;
  size_t left_out = 0;
  if (!coverage.earlier_is_complete) {
    sentences.push_back(
        "A search for the question as it was typed found nothing, but not all partitions "
        "answered.");
  }
  for (const ServiceCoverage& tier : coverage.tiers) {
    AppendMissing(tier, "its documents could not be found.", &sentences, &left_out);
  }
  AppendMissing(coverage.documents, "some results are shown without a summary.", &sentences,
                &left_out);
  if (left_out > 0) {
    sentences.push_back(
        StrCat(left_out, " more partition", left_out == 1 ? "" : "s", " did not answer."));
  }
  for (const ServiceCoverage& tier : coverage.tiers) {
    const std::vector<uint32_t> in_part = tier.answered_in_part();
    if (!in_part.empty()) {
      sentences.push_back(StrCat(Capitalised(tier.service), ", partition",
                                 in_part.size() == 1 ? " " : "s ", Listed(in_part),
                                 ", cut this search short because it took too long: the best "
                                 "documents found until then are here."));
    } else if (!tier.evaluated_completely) {
      sentences.push_back(StrCat(Capitalised(tier.service),
                                 " ran out of time: it gave the best documents found until then."));
    }
  }
  return sentences;
}

std::string UnmetSentence(const SearchAnswer& answer) {
  const std::vector<std::string>& demands = answer.unmet_demands;
  if (demands.empty()) return "";
  std::string sentence = "No page";
  if (!answer.coverage.earlier_is_complete) sentence += " that could be searched";
  if (!answer.narrowings.empty()) {
    sentence += answer.coverage.earlier_is_complete ? " that is not filtered out or excluded"
                                                    : " and is not filtered out or excluded";
  }
  if (demands.size() > 1) {
    sentence += " has all of this: ";
    for (size_t i = 0; i < demands.size(); ++i)
      StrAppend(&sentence, i == 0 ? "" : ", ", demands[i]);
  } else {
    StrAppend(&sentence, demands[0].starts_with('"') ? " contains the phrase " : " has ",
              demands[0]);
  }
  return sentence + ". These pages have some of the words.";
}

std::string Listed(const std::vector<uint32_t>& partitions) {
  const size_t named = std::min(partitions.size(), kMissingSentencesMax);
  const size_t more = partitions.size() - named;
  std::string text;
  for (size_t i = 0; i < named; ++i) {
    const bool is_last = more == 0 && i + 1 == named;
    StrAppend(&text, i == 0 ? "" : is_last ? " and " : ", ", partitions[i]);
  }
  if (more > 0) StrAppend(&text, " and ", more, " more");
  return text;
}

std::string Capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

std::string SnippetText(const SearchResult& result) {
  std::string text;
  for (const TextPiece& piece : result.snippet) text += piece.text;
  return text;
}

std::string_view OutcomeName(CacheUse::Outcome outcome) {
  switch (outcome) {
    case CacheUse::Outcome::kMiss:
      return "miss";
    case CacheUse::Outcome::kHit:
      return "hit";
    case CacheUse::Outcome::kBypassed:
      return "bypassed";
    case CacheUse::Outcome::kFailed:
      return "failed";
  }
  return "bypassed";
}

}  // namespace search::frontend
