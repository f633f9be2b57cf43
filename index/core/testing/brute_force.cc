#include "index/core/testing/brute_force.h"

#include <algorithm>
#include <cmath>

#include "index/core/analysis/analyzer.h"
#include "index/core/segment/length_code.h"

namespace search::index {
namespace {

bool Contains(const std::vector<uint32_t>& positions, uint32_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

}  // namespace

void BruteForce::CollectLeaves(const QueryNode& node, ScoringLeaves* leaves) {
  const bool title_only = node.field == QueryField::kTitle;
  if (node.kind == QueryNode::Kind::kNot) return;
  if (node.kind == QueryNode::Kind::kTerm) (*leaves)[{node.term, title_only}] += node.occurrences;
  for (const PhraseTerm& term : node.phrase) (*leaves)[{term.term, title_only}] += node.occurrences;
  for (const QueryNode& child : node.children) CollectLeaves(child, leaves);
}

BruteForce::BruteForce(const std::vector<TestDocument>& documents, const RankingOptions& ranking)
    : ranking_(ranking) {
  Analyzer analyzer;
  std::vector<Token> tokens;
  std::array<uint64_t, kFieldCount> sums = {};
  for (const TestDocument& input : documents) {
    Document& document = documents_.emplace_back();
    document.doc_id = input.doc_id;
    document.static_rank = input.static_rank;
    const std::array<std::string, kFieldCount> texts = {input.title, input.body, input.extra_text};
    std::set<std::string> all;
    for (size_t f = 0; f < kFieldCount; ++f) {
      analyzer.Analyze(f == 0 ? FieldKind::kTitle : FieldKind::kBody, texts[f], &tokens);
      for (const Token& token : tokens) {
        document.fields[f][std::string(token.term)].push_back(token.position);
        all.insert(std::string(token.term));
      }
      document.lengths[f] = DecodeLength(EncodeLength(static_cast<uint32_t>(tokens.size())));
      sums[f] += tokens.size();
    }
    for (const std::string& term : all) ++document_frequencies_[term];
    analyzer.Analyze(FieldKind::kSite, input.site, &tokens);
    for (const Token& token : tokens) document.sites.insert(std::string(token.term));
  }
  for (size_t f = 0; f < kFieldCount; ++f) {
    means_[f] = sums[f] == 0 ? 1
                             : static_cast<float>(static_cast<double>(sums[f]) /
                                                  static_cast<double>(documents.size()));
  }
}

bool BruteForce::Matches(const QueryNode& node, const Document& document) const {
  const auto matches = [&](const QueryNode& child) { return Matches(child, document); };
  const size_t field_count = node.field == QueryField::kTitle ? 1 : kFieldCount;
  switch (node.kind) {
    case QueryNode::Kind::kNothing:
      return false;
    case QueryNode::Kind::kTerm:
      return std::any_of(document.fields.begin(), document.fields.begin() + field_count,
                         [&](const Positions& field) { return field.contains(node.term); });
    case QueryNode::Kind::kSite:
      return document.sites.contains(node.term);
    case QueryNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), matches);
    case QueryNode::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), matches);
    case QueryNode::Kind::kNot:
      return !Matches(node.children[0], document);
    case QueryNode::Kind::kPhrase:
      break;
  }
  for (size_t f = 0; f < field_count; ++f) {
    const Positions& field = document.fields[f];
    const auto first = field.find(node.phrase[0].term);
    if (first == field.end()) continue;
    for (const uint32_t start : first->second) {
      if (std::all_of(node.phrase.begin(), node.phrase.end(), [&](const PhraseTerm& term) {
            const auto at = field.find(term.term);
            return at != field.end() && Contains(at->second, start + term.position);
          })) {
        return true;
      }
    }
  }
  return false;
}

float BruteForce::Score(const ScoringLeaves& leaves, const Document& document) const {
  constexpr float kUnit = 65536;
  int64_t units =
      std::lround(std::floor(ranking_.static_rank_weight * kUnit * document.static_rank + 0.5F));
  for (const auto& [leaf, occurrences] : leaves) {
    const auto& [term, title_only] = leaf;
    float frequency = 0;
    bool found = false;
    for (size_t f = 0; f < (title_only ? 1 : kFieldCount); ++f) {
      const auto at = document.fields[f].find(term);
      if (at == document.fields[f].end()) continue;
      found = true;
      const auto [weight, b] = ranking_.fields[f];
      const float norm = weight / (1 - b + b * (document.lengths[f] / means_[f]));
      frequency += static_cast<float>(at->second.size()) * norm;
    }
    if (!found) continue;
    const auto n = static_cast<double>(documents_.size());
    const auto df = static_cast<double>(document_frequencies_.at(term));
    const auto idf = static_cast<float>(std::log(1 + (n - df + 0.5) / (df + 0.5)) * kUnit);
    units +=
        occurrences * static_cast<int64_t>(idf * (frequency / (ranking_.k1 + frequency)) + 0.5F);
  }
  return static_cast<float>(units) / kUnit;
}

void BruteForce::Delete(uint64_t doc_id) { deleted_.insert(doc_id); }

SearchResult BruteForce::Search(const Query& query, size_t k) const {
  ScoringLeaves leaves;
  CollectLeaves(query.root, &leaves);
  SearchResult result;
  result.total_is_exact = true;
  for (const Document& document : documents_) {
    if (deleted_.contains(document.doc_id) || !Matches(query.root, document)) continue;
    ++result.total;
    result.hits.push_back({document.doc_id, Score(leaves, document)});
  }
  std::sort(result.hits.begin(), result.hits.end(), [](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.doc_id < b.doc_id;
  });
  if (result.hits.size() > k) result.hits.resize(k);
  return result;
}

}  // namespace search::index
