// ParseQuery: recursive descent over the lexemes.
//
//   alternatives = operands { OR operands }
//   operands     = operand { [AND] operand }
//   operand      = { NOT | '-' | '+' | title: | site: } ( word | quotation | '(' alternatives ')' )
//
// Lexemes that do not fit are left out and noted.

#include <optional>
#include <utility>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/unicode.h"
#include "index/core/query/lexer.h"
#include "index/core/query/query.h"
#include "index/core/query/stop_words.h"
#include "index/core/query/tree_builder.h"

namespace search::index {

namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using Kind = QueryNode::Kind;

// The fields in which the words of a bracket are searched.
enum class Scope : uint8_t { kAny, kTitle, kSite };

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    const unicode::Decoded next = unicode::Decode(text.substr(at));
    const bool is_text = next.code_point >= ' ';
    valid += is_text ? text.substr(at, next.size) : std::string_view("\xEF\xBF\xBD");
    at += next.size;
  }
  return valid;
}

// A short excerpt of the user's text for a note.
std::string Excerpt(std::string_view text) {
  constexpr size_t kExcerptSizeMax = 40;
  if (text.size() <= kExcerptSizeMax) return ValidUtf8(text);
  return ValidUtf8(text.substr(0, unicode::CutSize(text, kExcerptSizeMax))) + "…";
}

class Parser {
 public:
  Parser(std::string_view text, const ParseLimits& limits, std::vector<std::string>* notes)
      : limits_(limits), lexer_(text), analyzer_(AnalyzerOptions::ForQueries()), builder_(notes) {
    Advance();
  }

  StatusOr<QueryNode> Parse() {
    std::vector<Operand> parts;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<QueryNode> part, Alternatives(Scope::kAny));
      if (part.has_value()) parts.push_back({.node = *std::move(part)});
      if (next_.kind != LexemeKind::kClose) break;
      builder_.Note("A closing bracket without an opening one was left out.");
      Advance();
    }
    return builder_.Root(builder_.And(std::move(parts)));
  }

 private:
  void Advance() { next_ = lexer_.Next(); }

  bool AtEndOfAlternatives() const {
    return next_.kind == LexemeKind::kEnd || next_.kind == LexemeKind::kClose;
  }

  StatusOr<std::optional<QueryNode>> Alternatives(Scope scope) {
    std::vector<QueryNode> alternatives;
    bool has_operator = false;
    bool misses_side = false;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<QueryNode> node, Operands(scope));
      misses_side |= !node.has_value();
      if (node.has_value()) alternatives.push_back(*std::move(node));
      if (next_.kind != LexemeKind::kOr) break;
      has_operator = true;
      Advance();
    }
    if (has_operator && misses_side) {
      builder_.Note("An OR without words on both sides was left out.");
    }
    return builder_.Or(std::move(alternatives));
  }

  StatusOr<std::optional<QueryNode>> Operands(Scope scope) {
    std::vector<Operand> operands;
    bool wants_operand = false;
    bool misses_side = false;
    while (!AtEndOfAlternatives() && next_.kind != LexemeKind::kOr) {
      if (next_.kind == LexemeKind::kAnd) {
        misses_side |= operands.empty() || wants_operand;
        wants_operand = true;
        Advance();
        continue;
      }
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<Operand> operand, OneOperand(scope));
      wants_operand = false;
      if (operand.has_value()) operands.push_back(*std::move(operand));
    }
    if (misses_side || wants_operand) {
      builder_.Note("An AND without words on both sides was left out.");
    }
    return builder_.And(std::move(operands));
  }

  StatusOr<std::optional<Operand>> OneOperand(Scope scope) {
    bool is_excluded = false;
    bool is_required = false;
    while (true) {
      switch (next_.kind) {
        case LexemeKind::kNot:
        case LexemeKind::kMinus:
          is_excluded = !is_excluded;
          break;
        case LexemeKind::kPlus:
          is_required = true;
          break;
        case LexemeKind::kTitle:
          scope = Scope::kTitle;
          break;
        case LexemeKind::kSite:
          scope = Scope::kSite;
          break;
        default: {
          NEPTUNE_ASSIGN_OR_RETURN(std::optional<Operand> operand, Primary(scope));
          if (!operand.has_value()) return operand;
          operand->is_stop_word &= !is_required && !is_excluded;
          if (is_excluded) operand->node = builder_.Not(std::move(operand->node));
          return operand;
        }
      }
      Advance();
    }
  }

  StatusOr<std::optional<Operand>> Primary(Scope scope) {
    const Lexeme lexeme = next_;
    switch (lexeme.kind) {
      case LexemeKind::kOpen:
        return Bracket(scope);
      case LexemeKind::kWord:
        Advance();
        return Leaf(lexeme, scope);
      case LexemeKind::kQuotation:
        Advance();
        if (!lexeme.is_closed) {
          builder_.Note("A quotation mark was not closed; the phrase runs to the end.");
        }
        return Leaf(lexeme, scope);
      default:  // an operator, a closing bracket or the end: left to the caller
        builder_.Note("An operator without a word after it was left out.");
        return std::nullopt;
    }
  }

  StatusOr<std::optional<Operand>> Bracket(Scope scope) {
    if (nesting_ == limits_.nesting_max) {
      return InvalidArgument("query: more than ", limits_.nesting_max, " nested brackets at byte ",
                             next_.at);
    }
    ++nesting_;
    Advance();
    NEPTUNE_ASSIGN_OR_RETURN(std::optional<QueryNode> node, Alternatives(scope));
    --nesting_;
    if (next_.kind == LexemeKind::kClose) {
      Advance();
    } else {
      builder_.Note("An opening bracket was not closed; it was closed at the end.");
    }
    if (!node.has_value()) return std::nullopt;
    return Operand{.node = *std::move(node)};
  }

  StatusOr<std::optional<Operand>> Leaf(const Lexeme& lexeme, Scope scope) {
    std::optional<Operand> leaf;
    if (scope == Scope::kSite) {
      NEPTUNE_RETURN_IF_ERROR(CountTerms(1, lexeme.at));
      leaf = Site(lexeme.text);
    } else {
      std::vector<WordTerm> words = analyzer_.AnalyzeWord(lexeme.text);
      NEPTUNE_RETURN_IF_ERROR(CountTerms(words.size(), lexeme.at));
      leaf = Words(std::move(words), scope, lexeme.kind == LexemeKind::kQuotation);
    }
    if (!leaf.has_value()) {
      builder_.Note(lexeme.text.empty() ? std::string("Empty quotation marks were left out.")
                                        : StrCat("“", Excerpt(lexeme.text),
                                                 "” holds no letter or digit and was left out."));
    }
    return leaf;
  }

  Status CountTerms(size_t count, size_t at) {
    term_count_ += count;
    if (term_count_ <= limits_.term_count_max) return neptune::OkStatus();
    return InvalidArgument("query: more than ", limits_.term_count_max, " words at byte ", at);
  }

  static std::optional<Operand> Site(std::string_view name) {
    Operand site;
    site.node.kind = Kind::kSite;
    site.node.term = Analyzer::FoldSite(name);
    site.node.folded = site.node.term;
    site.node.surface = ValidUtf8(name);
    if (site.node.term.empty()) return std::nullopt;
    return site;
  }

  static std::optional<Operand> Words(std::vector<WordTerm> words, Scope scope, bool is_quoted) {
    if (words.empty()) return std::nullopt;
    Operand leaf;
    QueryNode& node = leaf.node;
    node.field = scope == Scope::kTitle ? QueryField::kTitle : QueryField::kAny;
    if (words.size() == 1) {
      WordTerm& word = words.front();
      leaf.is_stop_word = !is_quoted && scope == Scope::kAny && IsStopWord(word.folded);
      node.kind = Kind::kTerm;
      node.term = std::move(word.term);
      node.folded = std::move(word.folded);
      node.surface = std::move(word.surface);
      return leaf;
    }
    node.kind = Kind::kPhrase;
    for (WordTerm& word : words) {
      node.phrase.push_back({.term = std::move(word.term),
                             .position = word.position,
                             .folded = std::move(word.folded),
                             .surface = std::move(word.surface)});
    }
    return leaf;
  }

  const ParseLimits limits_;
  Lexer lexer_;
  Analyzer analyzer_;
  TreeBuilder builder_;
  Lexeme next_;
  size_t nesting_ = 0;
  size_t term_count_ = 0;
};

}  // namespace

StatusOr<Query> ParseQuery(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.query_size_max) {
    return InvalidArgument("query: ", text.size(), " bytes, the text is too long at byte ",
                           limits.query_size_max);
  }
  Query query;
  Parser parser(text, limits, &query.notes);
  NEPTUNE_ASSIGN_OR_RETURN(query.root, parser.Parse());
  return query;
}

}  // namespace search::index
