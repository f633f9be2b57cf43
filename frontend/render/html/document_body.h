// The text of a cached document as HTML: its structure if it has one that fits, else its lines as
// paragraphs; the words asked are marked and linked to one another.
//
// A structure comes from outside: it is checked as a whole (index/html/document_structure.h), and
// every element is written here from a literal. Links lead to other cached copies, or to the Web
// with rel="noopener nofollow".
//
// Threads: immutable.
// Limits: kCachedTextSizeMax bytes of text; the first kMatchLinksMax marks can be jumped to.

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "frontend/model/answer.h"
#include "frontend/render/html/marked_text.h"
#include "frontend/render/markup/markup_writer.h"
#include "index/html/document_structure.h"

namespace search::frontend::html {

class DocumentBody {
 public:
  // `shown` is the beginning of the document's text. Both outlive the body.
  DocumentBody(const CachedDocument& document, std::string_view shown);

  // True if the text has no structure, or none that fits.
  bool is_plain() const { return structure_.empty(); }
  // Number of marks that Write writes.
  size_t match_count() const { return matches_.size(); }
  void Write(MarkupWriter& html) const;

 private:
  const CachedDocument& document_;
  const std::string_view shown_;
  search::html::DocumentStructure structure_;
  std::vector<TextRange> matches_;
};

}  // namespace search::frontend::html
