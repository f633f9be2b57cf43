// The texts of links to one document, as they become its extra text: each different text on a line.
//
// Pure: the same texts in the same order give the same lines.
// Threads: thread-compatible.
// Units: sizes in bytes; copies are lines with the same text.
// Limits: LinkTextOptions; texts beyond them are dropped, the earliest are kept.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

struct LinkTextOptions {
  // Different texts that are kept. Larger: large reference pages are found by more of the names
  // that others use, and the build takes more memory.
  size_t count_max = 256;
  // Bytes of all lines. A text that does not fit is dropped, a later shorter one may fit.
  size_t size_max = 8192;
  // A text that n links have is written 1 + log2(n) times, at most this many times. 1: once.
  // Defaults of all three: best in the development half of known items (tools/evaluate/README.md);
  // more copies change nothing.
  uint32_t copies_max = 4;

  bool operator==(const LinkTextOptions&) const = default;
};

class LinkTexts {
 public:
  // Counts one link with this text. An empty text and one with a line break are ignored.
  void Add(std::string_view text, const LinkTextOptions& options);

  bool empty() const { return texts_.empty(); }

  // The texts by descending number of links if copies are written, else in the order of their first
  // links.
  std::string Lines(const LinkTextOptions& options) const;

 private:
  struct Text {
    std::string text;
    uint32_t link_count = 0;
  };

  std::vector<uint32_t> hashes_;  // of texts_, which are compared only if these agree
  std::vector<Text> texts_;
  size_t size_ = 0;  // of all texts with their line breaks
};

}  // namespace search::tools
