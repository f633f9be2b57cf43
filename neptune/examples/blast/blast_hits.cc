#include "neptune/examples/blast/blast_hits.h"

#include <algorithm>
#include <sstream>
#include <tuple>

#include "neptune/base/strings.h"

namespace neptune::examples {
namespace {

bool RanksBefore(const BlastHit& a, const BlastHit& b) {
  return std::make_tuple(a.evalue(), -a.bit_score(), -int64_t{a.score()}, a.subject()) <
         std::make_tuple(b.evalue(), -b.bit_score(), -int64_t{b.score()}, b.subject());
}

StatusOr<BlastHit> ParseLine(const std::string& line) {
  std::istringstream words(line);
  std::string subject;
  double evalue = 0;
  double bit_score = 0;
  double identity = 0;
  uint32_t score = 0;
  uint32_t ends[4];
  if (!(words >> subject >> evalue >> bit_score >> score >> identity >> ends[0] >> ends[1] >>
        ends[2] >> ends[3])) {
    return Internal("'", line, "' is not a line of blastp's table");
  }
  BlastHit hit;
  hit.set_subject(subject);
  hit.set_evalue(evalue);
  hit.set_bit_score(bit_score);
  hit.set_score(score);
  hit.set_identity_percent(identity);
  hit.set_query_begin(ends[0]);
  hit.set_query_end(ends[1]);
  hit.set_subject_begin(ends[2]);
  hit.set_subject_end(ends[3]);
  return hit;
}

}  // namespace

Status ValidateBlastQuery(const BlastQuery& query) {
  const std::string& letters = query.sequence();
  if (letters.empty() || letters.size() > kBlastQueryLengthMax) {
    return InvalidArgument("the query has ", letters.size(), " letters, expected 1 to ",
                           kBlastQueryLengthMax);
  }
  const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); };
  if (!std::all_of(letters.begin(), letters.end(), is_letter)) {
    return InvalidArgument("the query contains characters other than letters");
  }
  if (!(query.evalue_max() > 0 && query.evalue_max() <= kBlastEvalueMax)) {
    return InvalidArgument("evalue_max ", query.evalue_max(), " is outside (0, ", kBlastEvalueMax,
                           "]");
  }
  if (query.hit_count_max() < 1 || query.hit_count_max() > kBlastHitCountMax) {
    return InvalidArgument("hit_count_max ", query.hit_count_max(), ", expected 1 to ",
                           kBlastHitCountMax);
  }
  return OkStatus();
}

StatusOr<BlastHits> ParseBlastTable(std::string_view table) {
  BlastHits hits;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    NEPTUNE_ASSIGN_OR_RETURN(*hits.add_hits(), ParseLine(line));
  }
  return hits;
}

void KeepBestHits(uint32_t hit_count_max, BlastHits* hits) {
  auto& all = *hits->mutable_hits();
  // The limit comes from a message, and may be more than an int holds.
  const int kept = static_cast<int>(std::min(static_cast<uint32_t>(all.size()), hit_count_max));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), RanksBefore);
  all.DeleteSubrange(kept, all.size() - kept);
}

BlastHits MergeBlastHits(const BlastHits& a, const BlastHits& b, uint32_t hit_count_max) {
  BlastHits merged = a;
  merged.mutable_hits()->Add(b.hits().begin(), b.hits().end());
  KeepBestHits(hit_count_max, &merged);
  return merged;
}

}  // namespace neptune::examples
