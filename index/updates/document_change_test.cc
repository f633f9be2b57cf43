#include "index/updates/document_change.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace search::index {
namespace {

using neptune::StatusCode;

DocumentChange Upsert() {
  DocumentChange change;
  change.set_doc_id(7);
  change.mutable_upsert()->set_url("http://a/");
  change.mutable_upsert()->set_title("Gr\u00fc\u00dfe");
  return change;
}

std::string ReasonFor(const DocumentChange& change) {
  const neptune::Status status = CheckDocumentChange(change);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  return std::string(neptune::ToStd(status.message()));
}

TEST(DocumentChangeTest, ContentOrRemovalIsTaken) {
  EXPECT_TRUE(CheckDocumentChange(Upsert()).ok());
  DocumentChange removal;
  removal.mutable_removal();
  EXPECT_TRUE(CheckDocumentChange(removal).ok());
}

TEST(DocumentChangeTest, EachRefusalSaysWhatIsWrong) {
  DocumentChange change = Upsert();
  change.clear_what();
  EXPECT_EQ(ReasonFor(change), "document 7: neither content nor removal");
  change = Upsert();
  change.mutable_upsert()->clear_url();
  EXPECT_EQ(ReasonFor(change), "document 7 has no url");
  change = Upsert();
  change.mutable_upsert()->set_text(std::string(kTextSizeMax + 1, 'a'));
  EXPECT_EQ(ReasonFor(change), "document 7: text has 2097153 bytes, more than 2097152");
  change = Upsert();
  change.mutable_upsert()->set_extra_text("\xff");
  EXPECT_EQ(ReasonFor(change), "document 7: extra text is not UTF-8");
  for (const float rank : {-0.1F, 1.5F, std::numeric_limits<float>::quiet_NaN()}) {
    change = Upsert();
    change.mutable_upsert()->set_static_rank(rank);
    EXPECT_NE(ReasonFor(change).find("static rank"), std::string::npos);
  }
}

TEST(DocumentChangeTest, ADocumentStandsOnceInAChange) {
  PartitionChange change;
  *change.add_documents() = Upsert();
  EXPECT_TRUE(CheckPartitionChange(change).ok());
  *change.add_documents() = Upsert();
  EXPECT_EQ(CheckPartitionChange(change).code(), StatusCode::kInvalidArgument);
}

TEST(DocumentChangeTest, StatisticsHaveAVersionAndABoundedPiece) {
  PartitionChange change;
  StatisticsPiece& piece = *change.mutable_statistics();
  piece.set_version(1);
  piece.set_count(2);
  EXPECT_TRUE(CheckPartitionChange(change).ok());
  piece.set_index(2);
  EXPECT_FALSE(CheckPartitionChange(change).ok());
  piece.set_index(1);
  piece.set_data(std::string(kStatisticsPieceSizeMax + 1, 'a'));
  EXPECT_FALSE(CheckPartitionChange(change).ok());
}

TEST(DocumentChangeTest, ARequestKeyHasItsSizeAndAVersion) {
  PartitionChange change;
  change.mutable_request_key()->set_key(std::string(kRequestKeySize, 'k'));
  EXPECT_FALSE(CheckPartitionChange(change).ok());
  change.mutable_request_key()->set_version(1);
  EXPECT_TRUE(CheckPartitionChange(change).ok());
  change.mutable_request_key()->set_key("short");
  EXPECT_FALSE(CheckPartitionChange(change).ok());
}

TEST(DocumentChangeTest, BytesAreReadBackOrRefused) {
  PartitionChange change;
  *change.add_documents() = Upsert();
  const std::string bytes = change.SerializeAsString();
  const auto read = ParsePartitionChange(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->SerializeAsString(), bytes);
  EXPECT_EQ(ParsePartitionChange(bytes.substr(0, bytes.size() - 1)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(ParsePartitionChange(std::string(kPartitionChangeSizeMax + 1, '\0')).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(DocumentChangeTest, UrlsHaveNumbersThatNoBuiltDocumentHas) {
  EXPECT_EQ(DocIdOfUrl("http://a/"), DocIdOfUrl("http://a/"));
  EXPECT_NE(DocIdOfUrl("http://a/"), DocIdOfUrl("http://b/"));
  EXPECT_GE(DocIdOfUrl("http://a/"), kFirstHashedDocId);
}

}  // namespace
}  // namespace search::index
