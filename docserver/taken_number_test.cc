#include "docserver/taken_number.h"

#include <gtest/gtest.h>

#include "index/updates/document_change.h"

namespace search::docserver {
namespace {

// A store with one document.
class OneDocument final : public DocumentStore {
 public:
  OneDocument(uint64_t number, const std::string& url) {
    document_.set_doc_id(number);
    document_.set_url(url);
  }

  neptune::StatusOr<FetchedDocuments> FetchBeginnings(std::span<const uint64_t> ids,
                                                      size_t) const override {
    FetchedDocuments found(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == document_.doc_id()) found[i] = document_;
    }
    return found;
  }
  neptune::Status Put(std::span<const StoredDocument>) override { return neptune::OkStatus(); }
  neptune::Status Seal() override { return neptune::OkStatus(); }
  neptune::Status Verify() const override { return neptune::OkStatus(); }
  uint64_t document_count() const override { return 1; }
  std::string_view name() const override { return "one"; }

 private:
  StoredDocument document_;
};

TEST(TakenNumberTest, ANumberIsTakenByADocumentWithAnotherUrl) {
  const uint64_t number = index::DocIdOfUrl("http://a/");
  EXPECT_TRUE(IsNumberTaken(OneDocument(number, "http://b/"), "http://a/").value());
  EXPECT_FALSE(IsNumberTaken(OneDocument(number, "http://a/"), "http://a/").value());
  EXPECT_FALSE(IsNumberTaken(OneDocument(number + 1, "http://b/"), "http://a/").value());
}

}  // namespace
}  // namespace search::docserver
