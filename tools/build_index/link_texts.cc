#include "tools/build_index/link_texts.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace search::tools {
namespace {

uint32_t HashOf(std::string_view text) {
  return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()));
}

uint32_t CopyCount(uint32_t link_count, uint32_t copies_max) {
  return std::min(copies_max, static_cast<uint32_t>(std::bit_width(link_count)));
}

}  // namespace

void LinkTexts::Add(std::string_view text, const LinkTextOptions& options) {
  if (text.empty() || text.find('\n') != std::string_view::npos) return;
  const uint32_t hash = HashOf(text);
  for (size_t i = 0; i < hashes_.size(); ++i) {
    if (hashes_[i] != hash || texts_[i].text != text) continue;
    ++texts_[i].link_count;
    return;
  }
  if (texts_.size() == options.count_max || size_ + text.size() + 1 > options.size_max) return;
  size_ += text.size() + 1;
  hashes_.push_back(hash);
  texts_.push_back({.text = std::string(text), .link_count = 1});
}

std::string LinkTexts::Lines(const LinkTextOptions& options) const {
  std::vector<size_t> order(texts_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (options.copies_max > 1) {
    std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
      return texts_[a].link_count > texts_[b].link_count;
    });
  }
  std::string lines;
  for (const size_t i : order) {
    for (uint32_t n = CopyCount(texts_[i].link_count, options.copies_max); n > 0; --n) {
      if (lines.size() + texts_[i].text.size() + 1 > options.size_max) break;
      lines += texts_[i].text;
      lines += '\n';
    }
  }
  return lines;
}

}  // namespace search::tools
