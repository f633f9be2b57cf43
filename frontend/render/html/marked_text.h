// Writes ranges of a document's text with the words asked as <mark>, each followed by links to the
// previous and the next one, which the style sheet shows at the mark that was jumped to.
//
// Threads: thread-compatible.
// Limits: the first kMatchLinksMax marks can be jumped to.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend::html {

inline constexpr size_t kMatchLinksMax = 500;

// Id of the mark with that number, from 1.
std::string MarkId(size_t number);

class MarkedText {
 public:
  // `matches` are ascending, disjoint ranges of `text`. The writer and the text outlive the object.
  MarkedText(MarkupWriter& html, std::string_view text, std::vector<TextRange> matches)
      : html_(html), text_(text), matches_(std::move(matches)) {}

  // Ranges of the text, each beginning where the last one ended or later.
  void Write(size_t begin, size_t end);
  // Each line break becomes a <br>.
  void WriteLines(size_t begin, size_t end);
  // Each line that is not blank becomes a paragraph.
  void WriteParagraphs(size_t begin, size_t end);

  // Links must not contain links: those of marks in a link follow at its end.
  void BeginLink() { is_in_link_ = true; }
  void EndLink();

 private:
  void WriteMark(size_t begin, size_t end);
  void WriteSteps();

  MarkupWriter& html_;
  const std::string_view text_;
  const std::vector<TextRange> matches_;
  size_t next_ = 0;        // the match that is not yet written to its end
  size_t named_ = 0;       // marks with an id so far
  size_t first_step_ = 0;  // of those without links to others yet; 0: none
  bool is_in_link_ = false;
};

}  // namespace search::frontend::html
