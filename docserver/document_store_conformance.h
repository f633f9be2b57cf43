// Conformance tests for document stores. Variants in the registry are tested automatically; others
// instantiate the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Mine, DocumentStoreConformance, testing::Values(kMyVariant),
//                            VariantName);
//
// Test only. The oracle is a std::map.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "docserver/document_store.h"
#include "docserver/registry.h"

namespace search::docserver {

using Oracle = std::map<uint64_t, StoredDocument>;

class DocumentStoreConformance : public testing::TestWithParam<DocumentStoreVariant> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Directory private to this test.
  std::string Directory(const std::string& name = "store") const;
  std::unique_ptr<DocumentStore> Build(const std::string& directory) const;
  neptune::StatusOr<std::unique_ptr<DocumentStore>> Serve(const std::string& directory) const;

  // Documents with few and many bytes, ids far apart; the same for the same seed.
  static std::vector<StoredDocument> RandomDocuments(uint64_t seed, size_t count);
  // Builds and seals a store of the documents; returns its expected contents.
  Oracle BuildSealed(const std::string& directory, const std::vector<StoredDocument>& documents);
  // Fetches all stored documents, and some that do not exist, in random batches. Returns the first
  // error of the store; a wrong answer is a test failure.
  static neptune::Status CompareWithOracle(const DocumentStore& store, const Oracle& oracle,
                                           uint64_t seed);
  // Opens the store, fetches everything and verifies; returns the first error.
  neptune::Status OpenAndCompare(const std::string& directory, const Oracle& oracle) const;

 private:
  std::filesystem::path root_;
};

std::string VariantName(const testing::TestParamInfo<DocumentStoreVariant>& info);
// Prints a variant for GoogleTest.
void PrintTo(const DocumentStoreVariant& variant, std::ostream* out);

}  // namespace search::docserver
