// Properties of random query text: the tree keeps its invariants, canonical text has the same
// meaning and is stable, and a small evaluator confirms that normalization changes no meaning.

#include <gtest/gtest.h>

#include <random>

#include "index/core/query/query.h"
#include "index/core/query/query_invariants.h"
#include "index/core/query/relaxation.h"

namespace search::index {
namespace {

using Kind = QueryNode::Kind;

std::string RandomQuery(std::mt19937_64* rng) {
  static const std::vector<std::string> kPieces = {"x",
                                                   "y",
                                                   "the",
                                                   "to",
                                                   "vectors",
                                                   "pg_dump",
                                                   "c++",
                                                   "3.14",
                                                   "generously",
                                                   "AND",
                                                   "OR",
                                                   "NOT",
                                                   "NEAR",
                                                   "NEAR/5",
                                                   "NEAR/0",
                                                   "lang:en",
                                                   "lang:",
                                                   "url:a/b",
                                                   "url:",
                                                   "before:2024",
                                                   "after:2024-02-30",
                                                   "x NEAR/2 y",
                                                   "\"",
                                                   "(",
                                                   ")",
                                                   "-",
                                                   "+",
                                                   "~",
                                                   "~z",
                                                   "title:",
                                                   "site:",
                                                   "\"a b\"",
                                                   "&&",
                                                   "don't",
                                                   "\xC3\xA9t\xC3\xA9",
                                                   "\xE6\xA4\x9C\xE7\xB4\xA2",
                                                   "\xE2\x80\x9C",
                                                   "\xFF",
                                                   "site:a-b/c",
                                                   "->",
                                                   "x^0.5",
                                                   "vec*",
                                                   "--no*",
                                                   "*",
                                                   "\"a b\"^0.05",
                                                   "-m",
                                                   "\"-Wall\"",
                                                   "--no-verify",
                                                   "__init__",
                                                   "operator",
                                                   "<<",
                                                   "f(",
                                                   "==",
                                                   "title:x",
                                                   "(x OR y)",
                                                   "-(",
                                                   "\xC2\xA0",
                                                   "\t",
                                                   "does",
                                                   "\xEF\xB7\xBA",
                                                   "--",
                                                   "++",
                                                   ":",
                                                   "::",
                                                   "\xE2\x80\x99s",
                                                   "organizations",
                                                   "OR",
                                                   "(",
                                                   ")"};
  std::string text;
  const size_t count = (*rng)() % 14;
  for (size_t i = 0; i < count; ++i) {
    text += kPieces[(*rng)() % kPieces.size()];
    if ((*rng)() % 3 != 0) text += ' ';
  }
  return text;
}

using Parse = neptune::StatusOr<Query> (*)(std::string_view, const ParseLimits&);

class CanonicalPropertyTest : public testing::TestWithParam<Parse> {};

INSTANTIATE_TEST_SUITE_P(Languages, CanonicalPropertyTest,
                         testing::Values(&ParseQuery, &ParseQuestion));

TEST_P(CanonicalPropertyTest, CanonicalTextMeansTheSame) {
  std::mt19937_64 rng(23);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomQuery(&rng);
    const auto query = GetParam()(text, {});
    ASSERT_TRUE(query.ok()) << text;
    ASSERT_EQ(BrokenInvariant(query->root), "") << text;
    const std::string canonical = Canonical(*query);
    const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
    ASSERT_TRUE(again.ok()) << canonical;
    ASSERT_EQ(*again, *query) << text << "\n" << canonical;
    ASSERT_TRUE(again->notes.empty()) << canonical << "\n" << again->notes[0];
    ASSERT_EQ(Canonical(*again), canonical) << text;
  }
}

TEST(QueryPropertyTest, RelaxedQuestionsAreQueriesThatDemandNoMore) {
  std::mt19937_64 rng(31);
  int relaxed_count = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = RandomQuery(&rng);
    const auto relaxed = Relax(*ParseQuestion(text));
    if (!relaxed.has_value()) continue;
    ++relaxed_count;
    ASSERT_EQ(BrokenInvariant(relaxed->query.root), "") << text;
    ASSERT_FALSE(relaxed->demands.empty()) << text;
    const std::string canonical = Canonical(relaxed->query);
    const auto again = ParseQuery(canonical, ParseLimits::ForCanonical());
    ASSERT_TRUE(again.ok()) << canonical;
    ASSERT_EQ(*again, relaxed->query) << text << "\n" << canonical;
    ASSERT_FALSE(Relax(relaxed->query).has_value()) << text << "\n" << canonical;
  }
  EXPECT_GT(relaxed_count, 1000);
}

// True if the document, a set of letters, matches; evaluates the tree directly.
bool Matches(const QueryNode& node, const std::string& letters) {
  switch (node.kind) {
    case Kind::kNothing:
      return false;
    case Kind::kTerm:
      return letters.find(node.term) != std::string::npos;
    case Kind::kAnd:
      for (const QueryNode& child : node.children) {
        if (!Matches(child, letters)) return false;
      }
      return true;
    case Kind::kOr:
      for (const QueryNode& child : node.children) {
        if (Matches(child, letters)) return true;
      }
      return false;
    case Kind::kNot:
      return !Matches(node.children[0], letters);
    default:
      return false;
  }
}

// A random formula over the letters p to s: its fully bracketed text, and its truth table.
struct Formula {
  std::string text;
  std::vector<bool> truth;  // by set of letters
};

Formula RandomFormula(std::mt19937_64* rng, const std::vector<std::string>& documents, int depth) {
  const uint64_t choice = depth == 0 ? 0 : (*rng)() % 4;
  Formula formula;
  if (choice == 0) {
    formula.text = std::string(1, static_cast<char>('p' + (*rng)() % 4));
    for (const std::string& letters : documents) {
      formula.truth.push_back(letters.find(formula.text) != std::string::npos);
    }
    return formula;
  }
  const Formula left = RandomFormula(rng, documents, depth - 1);
  const Formula right = RandomFormula(rng, documents, depth - 1);
  const char* const operators[] = {"", " ", " OR ", " NOT "};
  formula.text = "(" + left.text + operators[choice] + right.text + ")";
  for (size_t i = 0; i < documents.size(); ++i) {
    const bool l = left.truth[i];
    const bool r = right.truth[i];
    formula.truth.push_back(choice == 1 ? l && r : choice == 2 ? l || r : l && !r);
  }
  return formula;
}

TEST(QueryPropertyTest, NormalFormMatchesTheSameDocuments) {
  std::vector<std::string> documents;
  for (int set = 0; set < 16; ++set) {
    std::string letters;
    for (int i = 0; i < 4; ++i) {
      if (set >> i & 1) letters += static_cast<char>('p' + i);
    }
    documents.push_back(letters);
  }
  std::mt19937_64 rng(29);
  for (int round = 0; round < 5000; ++round) {
    const Formula formula = RandomFormula(&rng, documents, 1 + static_cast<int>(rng() % 5));
    const auto query = ParseQuery(formula.text);
    ASSERT_TRUE(query.ok()) << formula.text;
    for (size_t i = 0; i < documents.size(); ++i) {
      ASSERT_EQ(Matches(query->root, documents[i]), formula.truth[i])
          << formula.text << "\n"
          << Canonical(*query) << "\ndocument " << documents[i];
    }
  }
}

}  // namespace
}  // namespace search::index
