// Text of unknown origin laid out for a terminal: wrapped at its width, styled, and harmless.
//
// Source: ECMA-48 (SGR). Column widths of characters: utf8proc.
// No I/O.
// Threads: thread-compatible.
// Errors: none. Control characters, escape sequences and bidirectional formatting marks are dropped
//   or shown as U+FFFD, so that no document can control the terminal.
// Limits: a word wider than a line is broken.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace search::tools {

enum class TextStyle { kPlain, kTitle, kAddress, kMatch, kDim, kWarning };

struct WrapOptions {
  int width = 80;        // columns, indent included; at least 20 are used
  int indent = 0;        // blanks before every line but the first
  int first_indent = 0;  // blanks before the first line
  bool has_colours = false;
};

class WrappedText {
 public:
  explicit WrappedText(const WrapOptions& options);

  // Appends `text`; any amount of white space separates words.
  void Add(std::string_view text, TextStyle style = TextStyle::kPlain);

  // Returns the lines, each ended by a line feed, and clears the object.
  std::string Take();

 private:
  struct Run {
    std::string text;
    TextStyle style;
  };

  void AddCharacter(std::string_view bytes, int width, TextStyle style);
  void EndWord();
  // Writes the escape sequence that changes the current style to this one.
  void SetStyle(TextStyle style);

  const WrapOptions options_;
  std::string out_;
  int column_ = 0;
  bool line_is_empty_ = true;
  TextStyle style_ = TextStyle::kPlain;
  std::vector<Run> word_;
  int word_width_ = 0;
};

}  // namespace search::tools
