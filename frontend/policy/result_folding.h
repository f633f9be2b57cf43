// Folding of a page: which of the ranked results are shown, and which are put behind one that is.
//
//   near-duplicate of a shown result of its site      behind that result, "similar pages"
//   third and later result of a site, first page      behind the site's last shown result
//
// A page that folds takes more of the ranking, so that it stays full. A result is folded only while
// others that are nearly as good take its place: if they have less than kFoldScoreShare of its
// score, or there are none, it is shown in its place after all. What is shown stays in rank order,
// and everything before the page's end in the ranking is shown or folded: nothing is lost, and the
// next page begins there.
//
// Source: near-duplicates by signatures [Manku07].
// No I/O, no clock.
// Threads: pure functions.
// Limits: kFoldCandidatesMax ranked results are looked at.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace search::frontend {

inline constexpr uint32_t kFoldCandidatesMax = 50;
// Default: a reader expects the main page and the next best of a site, then other sites.
inline constexpr size_t kShownOfSiteMax = 2;
// Larger: fewer results are folded, and what takes their place is better. Default: costs .003 of
// nDCG@10 on the judged questions of data/collections/documentation; 0.75 costs .018, folding all
// there is .044.
inline constexpr double kFoldScoreShare = 0.9;
// Different bits of the signatures of near-duplicates: as in the source; and of pages that have the
// same title besides.
inline constexpr int kNearDuplicateBits = 3;
inline constexpr int kSameTitleBits = 10;

struct FoldCandidate {
  std::string site = {};
  std::string title = {};
  uint64_t signature = 0;  // 0: unknown
  double score = 0;
  // False if the document server did not answer; the result is then shown as it is.
  bool is_known = true;
};

struct FoldedResult {
  size_t index = 0;  // of the candidate
  // Candidates that are behind it, ascending.
  std::vector<size_t> similar = {};
  std::vector<size_t> more_of_site = {};

  friend bool operator==(const FoldedResult&, const FoldedResult&) = default;
};

struct FoldedPage {
  std::vector<FoldedResult> results;  // in rank order
  // Number of candidates that the page covers, from the first.
  size_t covered_count = 0;
  // False: some candidate was or could have been put behind another, so the page depends on what is
  // ranked after it.
  bool is_plain = true;
  // The page could be fuller: more candidates are needed to know, as far as they have this score.
  // False if none are left.
  bool wants_more = false;
  double wanted_score_min = 0;
};

struct FoldingRules {
  size_t count = 10;        // results of a page
  bool folds_sites = true;  // else near-duplicates only
  // Score of the ranked result after the candidates; unset: there is none, or none is wanted.
  std::optional<double> next_score = std::nullopt;
};

// `candidates` are the results from the page's begin on, best first.
FoldedPage FoldPage(std::span<const FoldCandidate> candidates, const FoldingRules& rules);

// True if the texts of the two are nearly the same.
bool IsNearDuplicate(const FoldCandidate& a, const FoldCandidate& b);

}  // namespace search::frontend
