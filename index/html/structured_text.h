// Collects the plain text of a page and, beside it, its structure, from elements in document order.
//
// White space is collapsed except in code; paragraphs, items and rows are on lines of their own.
// Elements are opened at the first character of their text, so that positions never point at white
// space. What HTML permits and a structure does not is mended: text directly in a list gets an
// item, text between blocks a paragraph; a block inside a line of text is left out, and its text
// stays.
//
// Threads: thread-compatible.
// Limits: `size_max` bytes of text; StructureLimits.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/html/document_structure.h"

namespace search::html {

class StructuredText {
 public:
  explicit StructuredText(size_t size_max) : size_max_(size_max) {}

  // `preserve`: white space is kept, as in code.
  void Append(std::string_view text, bool preserve);
  // A space, if there is none and no line break.
  void Space();
  // A line break. `ends_block`: what follows is another paragraph, not the next line of this one.
  void Break(bool ends_block = true);
  // The next character begins another word than the last one: a space if both are parts of words.
  void EndWord() { ends_word_ = true; }

  // Opens an element unless the structure forbids it here. `owner` identifies it for Close.
  void Open(const void* owner, ElementKind kind, std::string value = {});
  // Closes the element of that owner and what is open in it; does nothing if it was not opened.
  void Close(const void* owner);

  bool is_full() const { return is_full_; }
  // Bytes of text so far; pending white space is not counted.
  size_t size() const { return text_.size(); }
  // The text from that position on.
  std::string_view From(size_t position) const { return std::string_view(text_).substr(position); }

  // The text and its structure; closes everything. Called once, at the end.
  std::string TakeText();
  DocumentStructure TakeStructure();

 private:
  struct OpenElement {
    const void* owner;  // null: implied by its content
    ElementKind kind;
    std::string value;
    bool is_written = false;
    bool has_content = false;
  };

  void Put(char c);
  void AddSpace(bool every);
  std::optional<ElementKind> innermost() const;
  void ImplyParents();
  void CloseImplied();
  void Push(const void* owner, ElementKind kind, std::string value);
  void Pop();
  void WriteOpen();

  const size_t size_max_;
  std::string text_;
  int newline_count_ = 0;
  int space_count_ = 0;
  bool ends_word_ = false;
  bool block_ended_ = false;  // since the last character
  bool is_full_ = false;

  std::vector<OpenElement> open_;
  size_t link_depth_ = 0;
  DocumentStructure events_;
};

}  // namespace search::html
