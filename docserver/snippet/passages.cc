#include "docserver/snippet/passages.h"

#include <algorithm>

namespace search::docserver {

namespace {

UnitMask Bit(int unit) { return UnitMask{1} << unit; }

struct Window {
  size_t begin = 0;
  size_t end = 0;
  UnitMask units = 0;
  double weight = 0;
};

bool IsBetter(const Window& a, const Window& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  return a.end - a.begin < b.end - b.begin;
}

size_t Minus(size_t a, size_t b) { return a > b ? a - b : 0; }

// The best range of at most `size` bytes, counting only units not in `covered`; it has no units if
// none fits.
Window BestWindow(const std::vector<Occurrence>& occurrences, const std::vector<double>& weights,
                  size_t size, UnitMask covered, UnitMask all) {
  Window best;
  for (size_t i = 0; i < occurrences.size(); ++i) {
    Window window = {.begin = occurrences[i].begin, .end = occurrences[i].begin};
    for (size_t j = i; j < occurrences.size(); ++j) {
      const Occurrence& next = occurrences[j];
      if (next.begin - window.begin >= size) break;
      if ((covered | window.units) & Bit(next.unit)) continue;
      if (next.end - window.begin > size) continue;
      window.end = std::max(window.end, next.end);
      window.units |= Bit(next.unit);
      window.weight += weights[static_cast<size_t>(next.unit)];
      if (IsBetter(window, best)) best = window;
      if ((covered | window.units) == all) break;
    }
  }
  return best;
}

// The beginning of the first occurrence, for snippets that are too small for any occurrence.
Window FirstOccurrence(const std::vector<Occurrence>& occurrences) {
  if (occurrences.empty()) return {};
  const Occurrence& first = occurrences.front();
  return {.begin = first.begin, .end = first.end, .units = Bit(first.unit), .weight = 0};
}

struct Choice {
  std::vector<Passage> passages;
  UnitMask covered = 0;
  double weight = 0;
};

Choice Choose(const std::vector<Occurrence>& occurrences, const std::vector<double>& weights,
              size_t passage_size, size_t count, UnitMask all) {
  Choice choice;
  for (size_t i = 0; i < count && choice.covered != all; ++i) {
    const Window window = BestWindow(occurrences, weights, passage_size, choice.covered, all);
    if (window.units == 0) break;
    choice.covered |= window.units;
    choice.weight += window.weight;
    choice.passages.push_back({window.begin, window.end, passage_size});
  }
  return choice;
}

// Sorts passages by begin and merges overlapping ones; a merged passage has the sum of their
// budgets.
std::vector<Passage> Merged(std::vector<Passage> passages) {
  std::sort(passages.begin(), passages.end(),
            [](const Passage& a, const Passage& b) { return a.begin < b.begin; });
  std::vector<Passage> merged;
  for (const Passage& passage : passages) {
    if (merged.empty() || passage.begin >= merged.back().end) {
      merged.push_back(passage);
      continue;
    }
    merged.back().end = std::max(merged.back().end, passage.end);
    merged.back().budget += passage.budget;
  }
  return merged;
}

}  // namespace

std::vector<double> UnitWeights(const QueryTerms& terms,
                                const std::vector<Occurrence>& occurrences) {
  std::vector<size_t> counts(terms.unit_count(), 0);
  for (const Occurrence& occurrence : occurrences) ++counts[static_cast<size_t>(occurrence.unit)];
  std::vector<double> weights(terms.unit_count(), 0);
  double sum = 0;
  for (size_t unit = 0; unit < weights.size(); ++unit) {
    if (terms.IsPhrase(unit) || counts[unit] == 0) continue;
    weights[unit] = 1 + 1 / static_cast<double>(counts[unit]);
    sum += weights[unit];
  }
  for (size_t unit = 0; unit < weights.size(); ++unit) {
    if (terms.IsPhrase(unit)) weights[unit] = sum + 1;
  }
  return weights;
}

std::vector<Passage> ChoosePassages(const std::vector<Occurrence>& occurrences,
                                    const std::vector<double>& weights, size_t size_max,
                                    size_t separator_size, size_t count_max) {
  UnitMask all = 0;
  for (const Occurrence& occurrence : occurrences) all |= Bit(occurrence.unit);
  Choice best;
  for (size_t count = 1; count <= count_max && best.covered != all; ++count) {
    const size_t separators = (count + 1) * separator_size;
    if (size_max <= separators + count) break;
    Choice choice = Choose(occurrences, weights, (size_max - separators) / count, count, all);
    if (choice.weight > best.weight) best = std::move(choice);
  }
  if (best.passages.empty()) {
    const Window first = FirstOccurrence(occurrences);
    if (first.units == 0) return {};
    best.passages.push_back({first.begin, first.end, Minus(size_max, 2 * separator_size)});
  }
  return Merged(std::move(best.passages));
}

}  // namespace search::docserver
