#include <gtest/gtest.h>

#include "docserver/document_store_conformance.h"
#include "docserver/registry.h"

namespace search::docserver {
namespace {

INSTANTIATE_TEST_SUITE_P(Registered, DocumentStoreConformance,
                         testing::ValuesIn(RegisteredDocumentStores().begin(),
                                           RegisteredDocumentStores().end()),
                         VariantName);

TEST(DocumentStoreRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto store = OpenDocumentStore("paper", "/nowhere", DocumentStoreOptions());
  EXPECT_EQ(store.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(store.status().message()),
            "unknown document store 'paper'; known: flat_file, rocksdb");
}

TEST(DocumentStoreRegistryTest, OpensByName) {
  for (const DocumentStoreVariant& variant : RegisteredDocumentStores()) {
    DocumentStoreOptions options;
    options.mode = DocumentStoreOptions::Mode::kBuild;
    const std::string directory = testing::TempDir() + "/registry_" + std::string(variant.name);
    const auto store = OpenDocumentStore(variant.name, directory, options);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ((*store)->name(), variant.name);
  }
}

}  // namespace
}  // namespace search::docserver
