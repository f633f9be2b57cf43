#include "index/core/search/candidates.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace search::index {

void Candidates::Add(const WordList& list) {
  if (count_ == 0) return Collect(list);
  Merge(list);
}

void Candidates::Collect(const WordList& list) {
  count_ = list.ordinals().size();
  ordinals_ = std::make_unique_for_overwrite<uint32_t[]>(count_ + kKernelRoom);
  units_ = std::make_unique_for_overwrite<ScoreUnits[]>(count_ + kKernelRoom);
  std::copy(list.ordinals().begin(), list.ordinals().end(), ordinals_.get());
  if (list.scores()) {
    std::copy(list.units().begin(), list.units().end(), units_.get());
  } else {
    std::fill_n(units_.get(), count_, 0);
  }
}

void Candidates::Merge(const WordList& list) {
  const auto ordinals = list.ordinals();
  const auto units_of = [units = list.units()](size_t i) { return units.empty() ? 0 : units[i]; };
  const size_t room = count_ + ordinals.size() + kKernelRoom;
  auto merged = std::make_unique_for_overwrite<uint32_t[]>(room);
  auto merged_units = std::make_unique_for_overwrite<ScoreUnits[]>(room);
  size_t a = 0;
  size_t b = 0;
  size_t count = 0;
  while (a < count_ && b < ordinals.size()) {
    const uint32_t left = ordinals_[a];
    const uint32_t right = ordinals[b];
    merged[count] = std::min(left, right);
    merged_units[count++] = (left <= right ? units_[a] : 0) + (right <= left ? units_of(b) : 0);
    a += left <= right ? 1 : 0;
    b += right <= left ? 1 : 0;
  }
  for (; a < count_; ++a, ++count) {
    merged[count] = ordinals_[a];
    merged_units[count] = units_[a];
  }
  for (; b < ordinals.size(); ++b, ++count) {
    merged[count] = ordinals[b];
    merged_units[count] = units_of(b);
  }
  count_ = count;
  evaluation_->ShouldStop(static_cast<uint32_t>(count));
  ordinals_ = std::move(merged);
  units_ = std::move(merged_units);
}

void Candidates::Filter(const QueryWords& words) {
  const uint64_t* const live = evaluation_->live_words();
  if (live != nullptr) count_ = kernels_.keep(live, true, count_, ordinals_.get(), units_.get());
  // Dense lists first: testing a bitmap is cheapest.
  for (const bool dense : {true, false}) {
    for (size_t i = 1; i < words.required().size(); ++i) {
      if (words.required()[i]->is_dense() == dense) Keep(words.required()[i], true);
    }
    for (WordList* list : words.excluded()) {
      if (list->is_dense() == dense) Keep(list, false);
    }
  }
  if (!words.alternatives().empty() && !words.required().empty()) KeepInAny(words.alternatives());
}

void Candidates::AddSparseUnits(QueryWords::Lists lists) {
  for (WordList* list : lists) {
    if (evaluation_->stopped()) return;
    if (!list->is_dense()) Meet(list, [](size_t, bool) {});
  }
}

void Candidates::Keep(WordList* list, bool wanted) {
  if (list->is_dense()) {
    count_ = kernels_.keep(list->dense().documents, wanted, count_, ordinals_.get(), units_.get());
    evaluation_->ShouldStop(static_cast<uint32_t>(count_));
    return;
  }
  size_t kept = 0;
  Meet(list, [&](size_t i, bool found) {
    ordinals_[kept] = ordinals_[i];
    units_[kept] = units_[i];
    kept += found == wanted ? 1 : 0;
  });
  count_ = kept;
}

template <typename Found>
void Candidates::Meet(WordList* list, Found found) {
  if (list->CanSeek(count_)) {
    for (size_t i = 0; i < count_; ++i) {
      const std::optional<ScoreUnits> units = list->Seek(ordinals_[i]);
      if (units) units_[i] += *units;
      found(i, units.has_value());
    }
    return;
  }
  list->Decode();
  const auto ordinals = list->ordinals();
  const auto units = list->units();
  const auto places = std::make_unique_for_overwrite<uint32_t[]>(count_);
  kernels_.find(ordinals_.get(), count_, ordinals.data(), places.get());
  for (size_t i = 0; i < count_; ++i) {
    const uint32_t place = places[i];
    const bool is_member = place < ordinals.size() && ordinals[place] == ordinals_[i];
    if (is_member && !units.empty()) units_[i] += units[place];
    found(i, is_member);
  }
  evaluation_->ShouldStop(static_cast<uint32_t>(count_));
}

void Candidates::KeepInAny(QueryWords::Lists lists) {
  std::vector<uint8_t> held(count_, 0);
  for (WordList* list : lists) {
    if (list->is_dense()) {
      for (size_t i = 0; i < count_; ++i) {
        held[i] |= HoldsDocument(list->dense().documents, ordinals_[i]) ? 1 : 0;
      }
    } else {
      Meet(list, [&](size_t i, bool found) { held[i] |= found ? 1 : 0; });
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < count_; ++i) {
    ordinals_[kept] = ordinals_[i];
    units_[kept] = units_[i];
    kept += held[i];
  }
  count_ = kept;
}

}  // namespace search::index
