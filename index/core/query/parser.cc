// ParseQuery: recursive descent over the lexemes.
//
//   alternatives = operands { OR operands }
//   operands     = near { [AND] near }
//   near         = operand { ( NEAR | NEAR/number ) operand }
//   operand      = { sign } ( word [share] | quotation [share] | '(' alternatives ')' )
//   sign         = NOT | '-' | '+' | '~' | title: | site: | url: | lang: | before: | after:
//   share        = '^0.' digit [digit]
//
// An operand is wanted or demanded: `+` demands and `~` only wants; without either, the language of
// the text decides (Language).
// Lexemes that do not fit are left out and noted.

#include <algorithm>
#include <optional>
#include <utility>

#include "index/core/analysis/analyzer.h"
#include "index/core/analysis/unicode.h"
#include "index/core/query/field_filter.h"
#include "index/core/query/foreign_syntax.h"
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
enum class Scope : uint8_t { kAny, kTitle, kSite, kField };

// What words and brackets without a sign are.
enum class Language : uint8_t { kAllDemanded, kAllWanted };

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

std::optional<QueryNode> NodeOf(std::optional<Operand> operand) {
  if (!operand.has_value()) return std::nullopt;
  return std::move(operand->node);
}

// The operand of a filter: documents match all of the nodes.
Operand FilterOf(std::vector<QueryNode> filters, TreeBuilder* builder) {
  std::vector<Operand> operands;
  for (QueryNode& filter : filters) operands.push_back({.node = std::move(filter)});
  Operand all = *builder->And(std::move(operands));
  all.is_field = true;
  return all;
}

class Parser {
 public:
  // query: receives notes and parts.
  Parser(std::string_view text, Language language, const ParseLimits& limits, Query* query)
      : limits_(limits),
        language_(language),
        text_(text),
        lexer_(text),
        analyzer_(AnalyzerOptions::ForQueries()),
        builder_(&query->notes),
        parts_(&query->parts) {
    Advance();
  }

  StatusOr<QueryNode> Parse() {
    std::vector<Operand> parts;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<Operand> part, Alternatives(Scope::kAny));
      if (part.has_value()) parts.push_back(*std::move(part));
      if (next_.kind != LexemeKind::kClose) break;
      builder_.Note("A closing bracket without an opening one was left out.");
      Advance();
    }
    return builder_.Root(NodeOf(builder_.And(std::move(parts))));
  }

 private:
  void Advance() {
    operand_end_ = lexer_.at();
    next_ = lexer_.Next();
  }

  bool words_are_wanted() const {
    return language_ == Language::kAllWanted && exclusion_depth_ == 0;
  }

  bool AtEndOfAlternatives() const {
    return next_.kind == LexemeKind::kEnd || next_.kind == LexemeKind::kClose;
  }

  StatusOr<std::optional<Operand>> Alternatives(Scope scope) {
    std::vector<Operand> alternatives;
    bool has_operator = false;
    bool misses_side = false;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(std::optional<Operand> operand, Operands(scope));
      misses_side |= !operand.has_value();
      if (operand.has_value()) alternatives.push_back(*std::move(operand));
      if (next_.kind != LexemeKind::kOr) break;
      has_operator = true;
      Advance();
    }
    if (has_operator && misses_side) {
      builder_.Note("An OR without words on both sides was left out.");
    }
    return builder_.OrOfUser(std::move(alternatives));
  }

  StatusOr<std::optional<Operand>> Operands(Scope scope) {
    std::vector<Operand> operands;
    bool wants_operand = false;
    bool misses_side = false;
    while (!AtEndOfAlternatives() && next_.kind != LexemeKind::kOr) {
      if (next_.kind == LexemeKind::kAnd) {
        misses_side |= operands.empty() || wants_operand;
        wants_operand = true;
        if (!operands.empty()) operands.back().is_wanted = false;
        Advance();
        continue;
      }
      const size_t first = operands.size();
      NEPTUNE_RETURN_IF_ERROR(NearOperands(scope, &operands));
      if (operands.size() > first && wants_operand) operands[first].is_wanted = false;
      wants_operand = false;
    }
    if (misses_side || wants_operand) {
      builder_.Note("An AND without words on both sides was left out.");
    }
    return builder_.And(std::move(operands));
  }

  // Appends one operand, or what NEAR makes of several.
  Status NearOperands(Scope scope, std::vector<Operand>* operands) {
    std::optional<Operand> left;
    if (next_.kind != LexemeKind::kNear) {
      NEPTUNE_ASSIGN_OR_RETURN(left, OneOperand(scope));
    }
    while (next_.kind == LexemeKind::kNear) {
      const uint32_t distance = next_.distance;
      Advance();
      std::optional<Operand> right;
      const bool has_right = !AtEndOfAlternatives() && next_.kind != LexemeKind::kOr &&
                             next_.kind != LexemeKind::kAnd && next_.kind != LexemeKind::kNear;
      if (has_right) {
        NEPTUNE_ASSIGN_OR_RETURN(right, OneOperand(scope));
      }
      if (!left.has_value() || !right.has_value()) {
        builder_.Note("A NEAR without words on both sides was left out.");
        if (right.has_value()) left = std::move(right);
        continue;
      }
      std::optional<QueryNode> near = builder_.Near(left->node, right->node, distance);
      if (near.has_value()) {
        left = Operand{.node = *std::move(near)};
        continue;
      }
      builder_.Note(
          "NEAR is only understood between different single words; both sides of it "
          "are demanded.");
      left->is_wanted = false;
      right->is_wanted = false;
      operands->push_back(*std::move(left));
      left = std::move(right);
    }
    if (left.has_value()) operands->push_back(*std::move(left));
    return neptune::OkStatus();
  }

  // The signs before an operand.
  struct Signs {
    size_t begin = 0;                             // of the first sign
    size_t field_begin = std::string_view::npos;  // of the first name of a field
    bool is_excluded = false;
    bool has_plus = false;
    bool has_tilde = false;
    Scope scope = Scope::kAny;
  };

  Signs ReadSigns(Scope scope) {
    Signs signs{.begin = next_.at, .scope = scope};
    while (true) {
      const size_t at = next_.at;
      switch (next_.kind) {
        case LexemeKind::kNot:
        case LexemeKind::kMinus:
          signs.is_excluded = !signs.is_excluded;
          break;
        case LexemeKind::kPlus:
          signs.has_plus = true;
          break;
        case LexemeKind::kTilde:
          signs.has_tilde = true;
          break;
        case LexemeKind::kTitle:
          signs.scope = Scope::kTitle;
          break;
        case LexemeKind::kSite:
          signs.scope = Scope::kSite;
          break;
        case LexemeKind::kField:
          signs.scope = Scope::kField;
          filter_name_ = next_.text;
          break;
        default:
          return signs;
      }
      const bool names_field = next_.kind == LexemeKind::kTitle ||
                               next_.kind == LexemeKind::kSite || next_.kind == LexemeKind::kField;
      if (names_field) signs.field_begin = std::min(signs.field_begin, at);
      Advance();
    }
  }

  StatusOr<std::optional<Operand>> OneOperand(Scope scope) {
    const std::string_view outer_filter = filter_name_;
    const Signs signs = ReadSigns(scope);
    const size_t begin = next_.at;
    const size_t part_index = parts_->size();
    exclusion_depth_ += signs.is_excluded ? 1 : 0;
    StatusOr<std::optional<Operand>> operand = Primary(signs.scope);
    exclusion_depth_ -= signs.is_excluded ? 1 : 0;
    filter_name_ = outer_filter;
    if (!operand.ok() || !operand->has_value()) return operand;
    const bool is_site = (**operand).node.kind == Kind::kSite && scope != Scope::kSite;
    const bool is_field = (**operand).is_field && scope != Scope::kField;
    Apply(signs, &**operand);
    if (signs.has_tilde && parts_->size() > part_index) {
      builder_.Note("A bracket after ~ only adds to the score: what it excludes was left out.");
    }
    // An excluded bracket is one part; of an optional one only the words are used.
    if (signs.is_excluded || signs.has_tilde) parts_->resize(part_index);
    if ((**operand).node.kind == Kind::kNot) {
      AddPart(QueryPart::Kind::kExclusion, signs.begin, std::min(signs.field_begin, begin));
    } else if (is_site) {
      AddPart(QueryPart::Kind::kSite, signs.begin, begin);
    } else if (is_field) {
      AddPart(QueryPart::Kind::kField, signs.begin, signs.begin);
    }
    return operand;
  }

  void Apply(const Signs& signs, Operand* operand) {
    if (signs.has_plus) {
      operand->is_wanted = false;
      operand->node.is_exact = true;
    } else if (signs.has_tilde) {
      operand->is_wanted = exclusion_depth_ == 0;
    }
    if (signs.has_plus || signs.has_tilde || signs.is_excluded) operand->is_stop_word = false;
    if (signs.is_excluded) operand->node = builder_.Not(std::move(operand->node));
  }

  // Records the operand that ends here: its signs begin at `begin`, its words at `words`.
  void AddPart(QueryPart::Kind kind, size_t begin, size_t words) {
    if (parts_->size() == kQueryPartCountMax) return;
    parts_->push_back({.kind = kind,
                       .text = Excerpt(text_.substr(words, operand_end_ - words)),
                       .begin_byte = begin,
                       .end_byte = operand_end_});
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
    NEPTUNE_ASSIGN_OR_RETURN(std::optional<Operand> operand, Alternatives(scope));
    --nesting_;
    if (next_.kind == LexemeKind::kClose) {
      Advance();
    } else {
      builder_.Note("An opening bracket was not closed; it was closed at the end.");
    }
    if (!operand.has_value()) builder_.Note("A bracket with no word in it was left out.");
    return operand;
  }

  StatusOr<std::optional<Operand>> Leaf(const Lexeme& lexeme, Scope scope) {
    std::optional<Operand> leaf;
    if (scope == Scope::kField) {
      std::vector<QueryNode> filters = FieldFilters(filter_name_, lexeme.text);
      if (!filters.empty()) {
        NEPTUNE_RETURN_IF_ERROR(CountTerms(filters.size(), lexeme.at));
        return FilterOf(std::move(filters), &builder_);
      }
      builder_.Note(
          StrCat("“", Excerpt(lexeme.text), "” was taken as words: ", FilterAdvice(filter_name_)));
      scope = Scope::kAny;
    }
    if (scope == Scope::kSite) {
      NEPTUNE_RETURN_IF_ERROR(CountTerms(1, lexeme.at));
      leaf = Site(lexeme.text);
    } else {
      std::vector<WordTerm> words = analyzer_.AnalyzeWord(lexeme.text);
      NEPTUNE_RETURN_IF_ERROR(CountTerms(words.size(), lexeme.at));
      const bool is_quoted = lexeme.kind == LexemeKind::kQuotation;
      if (IsPrefix(lexeme, words)) {
        if (prefix_count_ < kQueryPrefixCountMax) {
          NEPTUNE_RETURN_IF_ERROR(CountTerms(kPrefixWordCount - 1, lexeme.at));
        }
        leaf = Prefix(lexeme, std::move(words.front()), scope);
      } else {
        NoteForeignSyntax(lexeme, words, scope);
        leaf = Words(std::move(words), scope, is_quoted);
      }
      if (leaf.has_value()) {
        leaf->node.percent = lexeme.percent;
        NoteShare(lexeme);
        leaf->is_wanted = words_are_wanted() && !is_quoted && scope == Scope::kAny;
      }
    }
    if (!leaf.has_value()) {
      builder_.Note(
          lexeme.text.empty()
              ? std::string("Empty quotation marks were left out.")
              : StrCat("“", Excerpt(lexeme.text),
                       "” holds no letter, digit or sign that is indexed, and was left out."));
    }
    return leaf;
  }

  void NoteForeignSyntax(const Lexeme& lexeme, const std::vector<WordTerm>& words, Scope scope) {
    if (lexeme.kind != LexemeKind::kWord || scope != Scope::kAny) return;
    const bool is_name = words.size() == 1 && words[0].surface == lexeme.text;
    if (is_name && words[0].term.find_first_of("*~") != std::string::npos) return;  // `operator*`
    std::string note = ForeignSyntaxNote(lexeme.text);
    if (!note.empty()) builder_.Note(std::move(note));
  }

  // A user may have meant the number: `2^0.5`.
  void NoteShare(const Lexeme& lexeme) {
    const bool is_meant = language_ == Language::kAllDemanded || exclusion_depth_ > 0;
    if (is_meant || lexeme.percent == 100) return;
    builder_.Note(StrCat("“", Excerpt(lexeme.text), "” counts ", lexeme.percent,
                         " % of its usual score, as the “^” after it asks."));
  }

  // True for one word of at least two letters with a star after it. `operator*` is a name, whose
  // term has the star.
  static bool IsPrefix(const Lexeme& lexeme, const std::vector<WordTerm>& words) {
    return lexeme.kind == LexemeKind::kWord && words.size() == 1 && words[0].folded.size() > 1 &&
           lexeme.text.ends_with('*') && !words[0].term.ends_with('*') &&
           words[0].surface.size() + 1 == lexeme.text.size();
  }

  Operand Prefix(const Lexeme& lexeme, WordTerm word, Scope scope) {
    Operand leaf;
    QueryNode& node = leaf.node;
    node.field = scope == Scope::kTitle ? QueryField::kTitle : QueryField::kAny;
    node.surface = std::move(word.surface);
    const bool is_prefix = prefix_count_ < kQueryPrefixCountMax;
    if (is_prefix) {
      ++prefix_count_;
      node.kind = Kind::kPrefix;
      node.term = std::move(word.folded);
      node.folded = std::move(word.term);
    } else {
      builder_.Note(
          StrCat("More than ", kQueryPrefixCountMax, " words with * are taken as whole words."));
      node.kind = Kind::kTerm;
      node.term = std::move(word.term);
      node.folded = std::move(word.folded);
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
    node.is_exact = is_quoted;
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
    leaf.is_compound = !is_quoted;
    for (WordTerm& word : words) {
      node.phrase.push_back({.term = std::move(word.term),
                             .position = word.position,
                             .folded = std::move(word.folded),
                             .surface = std::move(word.surface)});
    }
    return leaf;
  }

  const ParseLimits limits_;
  const Language language_;
  const std::string_view text_;
  Lexer lexer_;
  Analyzer analyzer_;
  TreeBuilder builder_;
  std::vector<QueryPart>* const parts_;
  Lexeme next_;
  std::string_view filter_name_;  // of the innermost Scope::kField
  size_t operand_end_ = 0;        // after the lexeme before next_
  size_t nesting_ = 0;
  size_t exclusion_depth_ = 0;  // excluded operands around the current one
  size_t prefix_count_ = 0;
  size_t term_count_ = 0;
};

StatusOr<Query> ParseAs(Language language, std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.query_size_max) {
    return InvalidArgument("query: ", text.size(), " bytes, the text is too long at byte ",
                           limits.query_size_max);
  }
  Query query;
  Parser parser(text, language, limits, &query);
  NEPTUNE_ASSIGN_OR_RETURN(query.root, parser.Parse());
  return query;
}

}  // namespace

StatusOr<Query> ParseQuery(std::string_view text, const ParseLimits& limits) {
  return ParseAs(Language::kAllDemanded, text, limits);
}

StatusOr<Query> ParseQuestion(std::string_view text, const ParseLimits& limits) {
  return ParseAs(Language::kAllWanted, text, limits);
}

}  // namespace search::index
