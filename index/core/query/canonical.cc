// Canonical: writes the tree as query text, with as few brackets as the precedences allow.

#include <algorithm>

#include "index/core/analysis/analyzer.h"
#include "index/core/query/query.h"
#include "index/core/query/stop_words.h"

namespace search::index {

namespace {

using Kind = QueryNode::Kind;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<uint8_t>(c) >= 0x80;
}

bool BeginsWithSign(std::string_view word) { return !IsPlain(word[0]) && word[0] != '_'; }

class Printer {
 public:
  std::string Print(const QueryNode& node) {
    Append(node);
    return std::move(out_);
  }

 private:
  void Append(const QueryNode& node) {
    switch (node.kind) {
      case Kind::kNothing:
        return;
      case Kind::kTerm:
      case Kind::kPrefix:
      case Kind::kPhrase:
      case Kind::kNear:
        return AppendOccurrences(node);
      case Kind::kSite:
        return AppendSite(node.term);
      case Kind::kField:
        out_ += node.term;
        return;
      case Kind::kAnd:
        return AppendAll(node.children, " ", /*brackets_or=*/true);
      case Kind::kOr:
        return AppendAll(node.children, " OR ", /*brackets_or=*/false);
      case Kind::kNot:
        return AppendExclusion(node.children.front());
    }
  }

  // Repeats the node once per occurrence; adjacent equal nodes parse as one node.
  void AppendOccurrences(const QueryNode& node) {
    for (uint32_t i = 0; i < node.occurrences; ++i) {
      if (i > 0) out_ += ' ';
      AppendLeaf(node);
      if (node.percent < 100 && node.kind != Kind::kNear) AppendShare(node.percent);
    }
  }

  void AppendLeaf(const QueryNode& node) {
    if (node.kind == Kind::kTerm) return AppendTerm(node, /*is_excluded=*/false);
    if (node.kind == Kind::kPhrase) return AppendPhrase(node);
    if (node.kind == Kind::kNear) return AppendNear(node);
    if (node.is_optional) out_ += '~';
    if (node.field == QueryField::kTitle) out_ += "title:";
    out_.append(node.term).append("*");
  }

  void AppendShare(uint32_t percent) {
    out_ += "^0.";
    out_ += static_cast<char>('0' + percent / 10);
    if (percent % 10 != 0) out_ += static_cast<char>('0' + percent % 10);
  }

  void AppendAll(const std::vector<QueryNode>& nodes, std::string_view separator,
                 bool brackets_or) {
    bool is_first = true;
    for (const QueryNode& node : nodes) {
      if (!is_first) out_ += separator;
      is_first = false;
      if (brackets_or && node.kind == Kind::kOr) {
        AppendInBrackets(node);
      } else {
        Append(node);
      }
    }
  }

  void AppendInBrackets(const QueryNode& node) {
    out_ += '(';
    Append(node);
    out_ += ')';
  }

  void AppendExclusion(const QueryNode& node) {
    if (node.kind == Kind::kTerm) {
      const std::string& spelling = Spelling(node.term, node.folded);
      // `-x` and `->` are words.
      const bool needs_word =
          node.field == QueryField::kAny && (spelling.size() == 1 || BeginsWithSign(spelling));
      out_ += needs_word ? "NOT " : "-";
      return AppendTerm(node, /*is_excluded=*/true);
    }
    out_ += node.kind == Kind::kPrefix && BeginsWithSign(node.term) ? "NOT " : "-";
    const bool is_bare_near = node.kind == Kind::kNear && node.field == QueryField::kAny;
    if (node.kind == Kind::kAnd || node.kind == Kind::kOr || is_bare_near) {
      AppendInBrackets(node);
    } else {
      Append(node);
    }
  }

  void AppendTerm(const QueryNode& node, bool is_excluded) {
    const std::string& spelling = Spelling(node.term, node.folded);
    if (node.is_optional) out_ += '~';
    if (node.field == QueryField::kTitle) {
      out_ += "title:";
    } else if (!is_excluded && !node.is_optional && IsStopWord(spelling)) {
      out_ += '+';
    }
    const std::string_view mark = NeedsQuotes(spelling, node.is_optional) ? "\"" : "";
    out_.append(mark).append(spelling).append(mark);
  }

  // `-wall` would be an exclusion; `-w` and `--all` are words. A sign directly after the one for
  // optional words can be read with it as another sign: `~` before `*` or `>=`.
  static bool NeedsQuotes(std::string_view spelling, bool is_optional) {
    const bool is_exclusion = spelling.size() > 2 && spelling[0] == '-' && IsPlain(spelling[1]);
    return is_exclusion || (is_optional && BeginsWithSign(spelling));
  }

  void AppendPhrase(const QueryNode& node) {
    if (node.field == QueryField::kTitle) out_ += "title:";
    out_ += '"';
    for (const PhraseTerm& word : node.phrase) {
      if (&word != &node.phrase.front()) out_ += ' ';
      out_ += Spelling(word.term, word.folded);
    }
    out_ += '"';
  }

  void AppendNear(const QueryNode& node) {
    const bool in_title = node.field == QueryField::kTitle;
    if (in_title) out_ += "title:(";
    for (const PhraseTerm& word : node.phrase) {
      if (&word != &node.phrase.front())
        out_.append(" NEAR/" + std::to_string(node.distance) + " ");
      const std::string& spelling = Spelling(word.term, word.folded);
      // `-m^0.5` would be an exclusion.
      const bool has_share = node.percent < 100 && &word == &node.phrase.back();
      const bool needs_quotes =
          NeedsQuotes(spelling, /*is_optional=*/false) || (has_share && BeginsWithSign(spelling));
      const std::string_view mark = needs_quotes ? "\"" : "";
      out_.append(mark).append(spelling).append(mark);
    }
    if (node.percent < 100) AppendShare(node.percent);
    if (in_title) out_ += ')';
  }

  void AppendSite(std::string_view name) {
    const bool is_bare = IsPlain(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
                           return IsPlain(c) || c == '.' || c == '-' || c == '/' || c == '_';
                         });
    const std::string_view mark = is_bare ? "" : "\"";
    out_.append("site:").append(mark).append(name).append(mark);
  }

  // The term if it analyzes to itself; else the folded word, which analyzes to the term.
  const std::string& Spelling(const std::string& term, const std::string& folded) {
    if (term == folded) return folded;
    const std::vector<WordTerm> again = analyzer_.AnalyzeWord(term);
    return again.size() == 1 && again[0].term == term ? term : folded;
  }

  Analyzer analyzer_{AnalyzerOptions::ForQueries()};
  std::string out_;
};

}  // namespace

std::string Canonical(const Query& query) { return Printer().Print(query.root); }

}  // namespace search::index
