// Slow reference evaluation that the searcher is checked against: evaluates every leaf for every
// document, from lists of words in memory.
//
// Source: the definitions in index/core/search/ranking.h, index/core/rerank/second_phase.h and
//   index/core/query/query.h.
// Threads: thread-compatible.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/search/searcher.h"
#include "index/core/testing/documents.h"

namespace search::index {

class BruteForce {
 public:
  BruteForce(const std::vector<TestDocument>& documents, const RankingOptions& ranking);

  // The document no longer matches; statistics stay unchanged.
  void Delete(uint64_t doc_id);

  SearchResult Search(const Query& query, size_t k) const;
  // Search with the second phase for `count` documents; returns at most max(k, count) hits.
  SearchResult SearchTwice(const Query& query, size_t k, size_t count,
                           const SecondPhaseWeights& weights) const;

 private:
  // Occurrences in the query and their share, by (term, title only).
  struct Share {
    uint32_t occurrences = 0;
    uint32_t percent = 0;
  };
  using ScoringLeaves = std::map<std::pair<std::string, bool>, Share>;
  using Positions = std::map<std::string, std::vector<uint32_t>>;
  struct Document {
    uint64_t doc_id = 0;
    float static_rank = 0;
    std::array<Positions, kFieldCount> fields;
    std::array<float, kFieldCount> lengths = {};
    std::set<std::string> sites;
    std::set<std::string> field_keys;  // keys of document_fields.h
    std::string date;
  };

  void CollectLeaves(const QueryNode& node, ScoringLeaves* leaves) const;
  bool Matches(const QueryNode& node, const Document& document) const;
  float Score(const ScoringLeaves& leaves, const Document& document) const;
  const Document& Find(uint64_t doc_id) const;
  double Idf(const std::string& term) const;

  // A word with the number of fields in which it may occur: 1 for the title only.
  using Words = std::vector<std::pair<std::string, size_t>>;
  static void CollectWords(const QueryNode& node, Words* words);
  float Gain(const Words& words, const SecondPhaseWeights& weights, const Document& document) const;
  static uint64_t Lacks(const Words& words, const Document& document);
  uint32_t PairUnits(const Words& words, size_t s, size_t t, double weight,
                     const Document& document) const;

  const RankingOptions ranking_;
  std::vector<Document> documents_;
  std::set<uint64_t> deleted_;
  std::map<std::string, uint64_t> document_frequencies_;
  std::array<float, kFieldCount> means_ = {};
};

}  // namespace search::index
