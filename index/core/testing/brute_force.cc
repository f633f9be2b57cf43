#include "index/core/testing/brute_force.h"

#include <algorithm>
#include <cmath>

#include "index/core/analysis/analyzer.h"
#include "index/core/document_fields.h"
#include "index/core/segment/length_code.h"

namespace search::index {
namespace {

bool Contains(const std::vector<uint32_t>& positions, uint32_t position) {
  return std::find(positions.begin(), positions.end(), position) != positions.end();
}

bool IsOfPrefix(const QueryNode& prefix, const std::string& term) {
  return term.starts_with(prefix.term) || term == prefix.folded;
}

// True if some window of positions that begins at a word of the node holds all of its words.
bool IsNearIn(const QueryNode& node, const std::map<std::string, std::vector<uint32_t>>& field) {
  std::set<uint32_t> starts;
  for (const PhraseTerm& word : node.phrase) {
    const auto at = field.find(word.term);
    if (at == field.end()) return false;
    starts.insert(at->second.begin(), at->second.end());
  }
  return std::any_of(starts.begin(), starts.end(), [&](uint32_t start) {
    return std::all_of(node.phrase.begin(), node.phrase.end(), [&](const PhraseTerm& word) {
      const std::vector<uint32_t>& places = field.at(word.term);
      return std::any_of(places.begin(), places.end(), [&](uint32_t place) {
        return place >= start && place - start <= node.distance;
      });
    });
  });
}

bool MatchesField(const FieldFilter& filter, const std::set<std::string>& keys,
                  const std::string& date) {
  if (filter.name == "url" || filter.name == "lang") {
    return keys.contains(FieldKey(filter.name, filter.value));
  }
  const auto day = ParseDate(date);
  if (!day.has_value() || date.size() != 10) return false;
  const uint32_t first = ParseDate(filter.value)->first;
  return filter.name == "before" ? day->first < first : day->first >= first;
}

constexpr size_t kBody = static_cast<size_t>(Field::kBody);

uint32_t ToUnits(double score) { return static_cast<uint32_t>(score * 65536 + 0.5); }

}  // namespace

void BruteForce::CollectLeaves(const QueryNode& node, ScoringLeaves* leaves) const {
  const bool title_only = node.field == QueryField::kTitle;
  if (node.kind == QueryNode::Kind::kNot) return;
  const auto add = [&](const std::string& term) {
    Share& share = (*leaves)[{term, title_only}];
    share.occurrences += node.occurrences;
    share.percent = std::max(share.percent, node.percent);
  };
  if (node.kind == QueryNode::Kind::kTerm) add(node.term);
  if (node.kind == QueryNode::Kind::kPrefix) {
    for (const auto& [term, frequency] : document_frequencies_) {
      if (IsOfPrefix(node, term)) add(term);
    }
  }
  for (const PhraseTerm& term : node.phrase) add(term.term);
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
    for (std::string& key : FieldKeysOf(input.View())) document.field_keys.insert(std::move(key));
    document.date = input.date;
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
    case QueryNode::Kind::kPrefix:
      return std::any_of(document.fields.begin(), document.fields.begin() + field_count,
                         [&](const Positions& field) {
                           return std::any_of(field.begin(), field.end(), [&](const auto& entry) {
                             return IsOfPrefix(node, entry.first);
                           });
                         });
    case QueryNode::Kind::kSite:
      return document.sites.contains(node.term);
    case QueryNode::Kind::kField:
      return MatchesField(FieldFilterOf(node), document.field_keys, document.date);
    case QueryNode::Kind::kAnd:
      return std::all_of(node.children.begin(), node.children.end(), [&](const QueryNode& child) {
        return child.is_optional || matches(child);
      });
    case QueryNode::Kind::kOr:
      return std::any_of(node.children.begin(), node.children.end(), matches);
    case QueryNode::Kind::kNot:
      return !Matches(node.children[0], document);
    case QueryNode::Kind::kNear:
      return std::any_of(document.fields.begin(), document.fields.begin() + field_count,
                         [&](const Positions& field) { return IsNearIn(node, field); });
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
  for (const auto& [leaf, share] : leaves) {
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
    const auto idf =
        static_cast<float>(std::log(1 + (n - df + 0.5) / (df + 0.5)) * share.percent / 100);
    const float saturation = frequency / (ranking_.k1 + frequency);
    const float impact = std::min(65280.0F, std::floor(saturation * kUnit + 0.5F));
    units += share.occurrences * static_cast<int64_t>(idf * impact + 0.5F);
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

void BruteForce::CollectWords(const QueryNode& node, Words* words) {
  if (node.kind == QueryNode::Kind::kNot) return;
  const size_t field_count = node.field == QueryField::kTitle ? 1 : kFieldCount;
  const auto add = [&](const std::string& term) {
    const std::pair<std::string, size_t> word(term, field_count);
    if (std::find(words->begin(), words->end(), word) == words->end()) words->push_back(word);
  };
  if (node.kind == QueryNode::Kind::kTerm) add(node.term);
  for (const PhraseTerm& term : node.phrase) add(term.term);
  for (const QueryNode& child : node.children) CollectWords(child, words);
}

const BruteForce::Document& BruteForce::Find(uint64_t doc_id) const {
  return *std::find_if(documents_.begin(), documents_.end(),
                       [&](const Document& document) { return document.doc_id == doc_id; });
}

double BruteForce::Idf(const std::string& term) const {
  const auto found = document_frequencies_.find(term);
  if (found == document_frequencies_.end()) return 0;
  const auto n = static_cast<double>(documents_.size());
  const auto df = static_cast<double>(found->second);
  return std::log(1 + (n - df + 0.5) / (df + 0.5));
}

uint32_t BruteForce::PairUnits(const Words& words, size_t s, size_t t, double weight,
                               const Document& document) const {
  double nearness = 0;
  for (size_t f = 0; f < std::min(words[s].second, words[t].second); ++f) {
    const auto of_s = document.fields[f].find(words[s].first);
    const auto of_t = document.fields[f].find(words[t].first);
    if (of_s == document.fields[f].end() || of_t == document.fields[f].end()) continue;
    double sum = 0;
    for (uint32_t distance = 1; distance <= 8; ++distance) {
      uint32_t count = 0;
      for (const uint32_t place : of_s->second) {
        if (Contains(of_t->second, place + distance)) ++count;
      }
      sum += static_cast<double>(count) / distance;
    }
    const auto [field_weight, b] = ranking_.fields[f];
    const float norm = field_weight / (1 - b + b * (document.lengths[f] / means_[f]));
    nearness += static_cast<double>(norm) * sum;
  }
  const double idf = std::min(Idf(words[s].first), Idf(words[t].first));
  return ToUnits(weight * idf * (nearness / (static_cast<double>(ranking_.k1) + nearness)));
}

float BruteForce::Gain(const Words& words, const SecondPhaseWeights& weights,
                       const Document& document) const {
  uint32_t units = 0;
  uint32_t covered = 0;
  for (size_t s = 0; s < words.size(); ++s) {
    for (size_t t = s + 1; t < words.size() && t - s <= 3; ++t) {
      units += PairUnits(words, s, t, static_cast<double>(weights.proximity), document);
    }
    const auto in_title = document.fields[0].find(words[s].first);
    if (in_title != document.fields[0].end()) {
      covered += static_cast<uint32_t>(in_title->second.size());
    }
  }
  const double cover =
      covered == 0 ? 0 : std::min(1.0, covered / static_cast<double>(document.lengths[0]));
  for (const auto& [term, field_count] : words) {
    if (document.fields[0].contains(term)) {
      units += ToUnits(static_cast<double>(weights.title) * Idf(term) * (cover * cover));
    }
    const auto in_body = document.fields[kBody].find(term);
    if (field_count == 1 || in_body == document.fields[kBody].end()) continue;
    const auto half = static_cast<double>(weights.lead_half);
    units += ToUnits(static_cast<double>(weights.lead) * Idf(term) *
                     (half / (half + in_body->second[0])));
  }
  return static_cast<float>(units) / 65536;
}

uint64_t BruteForce::Lacks(const Words& words, const Document& document) {
  uint64_t lacks = 0;
  for (size_t i = 0; i < std::min<size_t>(words.size(), 64); ++i) {
    const auto& [term, field_count] = words[i];
    const bool occurs = std::any_of(document.fields.begin(), document.fields.begin() + field_count,
                                    [&](const Positions& field) { return field.contains(term); });
    if (!occurs) lacks |= uint64_t{1} << i;
  }
  return lacks;
}

SearchResult BruteForce::SearchTwice(const Query& query, size_t k, size_t count,
                                     const SecondPhaseWeights& weights) const {
  Words words;
  CollectWords(query.root, &words);
  SearchResult result = Search(query, std::max(k, count));
  result.second_phase_count = count;
  const auto rated =
      result.hits.begin() + static_cast<ptrdiff_t>(std::min(count, result.hits.size()));
  for (auto hit = result.hits.begin(); hit != rated; ++hit) {
    hit->gain = Gain(words, weights, Find(hit->doc_id));
    hit->lacks = Lacks(words, Find(hit->doc_id));
  }
  std::sort(result.hits.begin(), rated, [](const Hit& a, const Hit& b) {
    const float of_a = a.score + a.gain;
    const float of_b = b.score + b.gain;
    return of_a != of_b ? of_a > of_b : a.doc_id < b.doc_id;
  });
  return result;
}

}  // namespace search::index
