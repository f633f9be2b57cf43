// The conformance suite of index tiers. It runs for every variant in the registry; a variant
// outside of the registry instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, IndexTierConformance, testing::Values(kMyVariant), VariantName);
//
// Answers are compared with those of the exhaustive variant kReferenceTierName.
//
// Test only.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "index/tier/index_tier.h"
#include "index/tier/registry.h"

namespace search::index {

inline constexpr char kReferenceTierName[] = "rocksdb_postings";

// A document that owns its texts.
struct OwnedDocument {
  uint64_t doc_id = 0;
  std::string title;
  std::string body;
  std::string extra_text;
  std::string site;
  float static_rank = 0;

  IndexedDocument View() const { return {doc_id, title, body, extra_text, site, static_rank}; }
};

// Documents with a small vocabulary, so that words co-occur; ascending by doc_id.
std::vector<OwnedDocument> RandomDocuments(std::mt19937_64& random, size_t count);

// A query text over these words, with every operator of the language.
std::string RandomQuery(std::mt19937_64& random);

class IndexTierConformance : public testing::TestWithParam<IndexTierVariant> {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string Directory(const std::string& name) const { return (root_ / name).string(); }

  // Builds the documents as `count` partitions of one collection: document i goes to partition i
  // mod count. Returns their directories.
  std::vector<std::string> Build(std::string_view variant, const std::string& name,
                                 const std::vector<OwnedDocument>& documents, size_t count);
  std::unique_ptr<IndexTier> Open(std::string_view variant, const std::string& directory) const;
  std::vector<std::unique_ptr<IndexTier>> BuildAndOpen(std::string_view variant,
                                                       const std::string& name,
                                                       const std::vector<OwnedDocument>& documents,
                                                       size_t count);
  // Damages every file round_count times and runs queries after each; the damage must be detected
  // at least found_count_min times.
  void DamageAndAsk(size_t document_count, int round_count, size_t found_count_min);
  std::string_view variant() const { return GetParam().name; }

 private:
  std::filesystem::path root_;
};

std::string VariantName(const testing::TestParamInfo<IndexTierVariant>& info);
// Prints a variant for GoogleTest.
void PrintTo(const IndexTierVariant& variant, std::ostream* out);

}  // namespace search::index
