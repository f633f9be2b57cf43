#include "index/suggest/suggestion_index.h"

#include <algorithm>
#include <queue>
#include <ranges>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;

// A subrange of entries, with the best of it.
struct Part {
  uint16_t weight = 0;
  size_t best = 0;
  size_t begin = 0;
  size_t end = 0;

  // Worse subranges are smaller.
  bool operator<(const Part& other) const {
    return weight != other.weight ? weight < other.weight : best > other.best;
  }
};

}  // namespace

bool IsBetterCompletion(const Completion& a, const Completion& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  const auto text = [](const Completion& c) { return std::string_view(c.key).substr(c.start); };
  return std::tuple(text(a), std::string_view(a.key)) <
         std::tuple(text(b), std::string_view(b.key));
}

StatusOr<std::unique_ptr<SuggestionIndex>> SuggestionIndex::Open(const std::string& directory,
                                                                 const OpenOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto file,
                           SectionFile::Open(neptune::StrCat(directory, "/", kSuggestionsFileName),
                                             kSuggestionsKind, options));
  return FromFile(std::move(file));
}

StatusOr<std::unique_ptr<SuggestionIndex>> SuggestionIndex::FromFile(
    std::unique_ptr<SectionFile> file) {
  std::unique_ptr<SuggestionIndex> index(new SuggestionIndex());
  index->file_ = std::move(file);
  NEPTUNE_RETURN_IF_ERROR(index->Load());
  // Checks of single entries note what they find.
  if (!index->file_->damage_noted()) return index;
  return index->file_->Damaged("an entry leads out of the file");
}

Status SuggestionIndex::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals,
                           file_->Array<SuggestionTotals>(kSuggestionTotalsSection));
  if (totals.size() != 1) return file_->Damaged("expected one record of totals");
  totals_ = totals[0];
  NEPTUNE_RETURN_IF_ERROR(LoadPhrases());
  return LoadEntries();
}

Status SuggestionIndex::LoadPhrases() {
  NEPTUNE_ASSIGN_OR_RETURN(offsets_, file_->Array<uint32_t>(kTextOffsetsSection));
  NEPTUNE_ASSIGN_OR_RETURN(texts_, file_->Section(kTextsSection));
  NEPTUNE_ASSIGN_OR_RETURN(records_, file_->Array<PhraseRecord>(kPhraseRecordsSection));
  if (records_.size() != totals_.phrase_count || offsets_.size() != 2 * records_.size() + 1 ||
      offsets_.front() != 0 || offsets_.back() != texts_.size() ||
      !std::is_sorted(offsets_.begin(), offsets_.end())) {
    return file_->Damaged("phrases and their texts are inconsistent");
  }
  for (size_t i = 1; i < records_.size(); ++i) {
    if (key(i) <= key(i - 1)) return file_->Damaged("phrases are out of order");
  }
  return neptune::OkStatus();
}

Status SuggestionIndex::LoadEntries() {
  NEPTUNE_ASSIGN_OR_RETURN(entry_phrases_, file_->Array<uint32_t>(kEntryPhrasesSection));
  NEPTUNE_ASSIGN_OR_RETURN(entry_starts_, file_->Array<uint8_t>(kEntryStartsSection));
  NEPTUNE_ASSIGN_OR_RETURN(const auto weights, file_->Array<uint16_t>(kEntryWeightsSection));
  const auto levels = RangeMax::FromStored(weights, entry_phrases_.size());
  if (entry_phrases_.size() != totals_.entry_count ||
      entry_starts_.size() != entry_phrases_.size() || !levels) {
    return file_->Damaged("tables of entries are inconsistent");
  }
  entry_weights_ = *levels;
  for (size_t i = 0; i < entry_phrases_.size(); ++i) {
    if (entry_phrases_[i] >= records_.size() || entry_starts_[i] >= key(entry_phrases_[i]).size()) {
      return file_->Damaged("entry ", i, " refers to no phrase");
    }
  }
  return neptune::OkStatus();
}

SuggestionIndex::Range SuggestionIndex::EntriesOf(std::string_view prefix) const {
  const auto entries = std::views::iota(size_t{0}, entry_phrases_.size());
  const auto begin = std::ranges::partition_point(
      entries, [&](size_t entry) { return EntryText(entry) < prefix; });
  const auto end = std::ranges::partition_point(
      entries, [&](size_t entry) { return EntryText(entry).substr(0, prefix.size()) <= prefix; });
  return {static_cast<size_t>(begin - entries.begin()), static_cast<size_t>(end - entries.begin())};
}

std::vector<Completion> SuggestionIndex::Complete(std::string_view prefix, size_t count_max) const {
  std::vector<Completion> completions;
  if (prefix.empty()) return completions;
  count_max = std::min(count_max, kCompletionsMax);
  const Range range = EntriesOf(prefix);
  std::priority_queue<Part> parts;
  const auto add = [&](size_t begin, size_t end) {
    if (begin >= end) return;
    const size_t best = entry_weights_.Best(begin, end);
    parts.push({entry_weights_.value(best), best, begin, end});
  };
  add(range.begin, range.end);
  std::unordered_set<uint32_t> seen;
  while (!parts.empty() && completions.size() < count_max) {
    const Part part = parts.top();
    parts.pop();
    add(part.begin, part.best);
    add(part.best + 1, part.end);
    const uint32_t phrase = entry_phrases_[part.best];
    if (!seen.insert(phrase).second) continue;
    Completion& completion =
        completions.emplace_back(Completion{.text = std::string(display(phrase)),
                                            .key = std::string(key(phrase)),
                                            .start = entry_starts_[part.best],
                                            .weight = part.weight,
                                            .document_count = record(phrase).document_count});
    if (completion.start <= completion.key.size()) continue;
    file_->NoteDamage();
    completion.start = 0;
  }
  return completions;
}

}  // namespace search::index
