#include "frontend/documents/document_routes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "index/updates/document_change.h"
#include "neptune/world/sim/simulator.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using nlohmann::json;

// Accepts every document except 13; the url http://published/ has the number 42.
class FakeWriter final : public DocumentWriter {
 public:
  std::vector<Written> Write(const Order& order) override {
    deadline_ = order.deadline;
    names_.push_back(order.name);
    std::vector<Written> written;
    for (const DocumentEdit& edit : order.edits) {
      edits_.push_back(edit);
      const uint64_t doc_id = edit.url == "http://published/" ? 42 : edit.doc_id;
      written.push_back(
          {doc_id == 13 ? neptune::Unavailable("no primary") : neptune::OkStatus(), doc_id});
    }
    return written;
  }

  std::vector<DocumentEdit> edits_;
  std::vector<std::optional<RequestName>> names_;
  neptune::TimePoint deadline_;
};

class DocumentRoutesTest : public testing::Test {
 protected:
  HttpResponse Post(const std::string& type, const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.path = kDocumentsPath;
    request.headers.Set("Content-Type", type);
    request.body = body;
    return routes_.Post(request, &changed_);
  }
  HttpResponse Delete(const std::string& id) {
    HttpRequest request;
    request.method = "DELETE";
    request.path = kDocumentsPrefix + id;
    return routes_.Delete(request, &changed_);
  }

  FakeWriter writer_;
  ChangedDocuments changed_;
  neptune::Simulator simulator_{1};
  HtmlThreads html_threads_{simulator_.AddHost({.name = "host"})};
  DocumentRoutes routes_{writer_, html_threads_, std::chrono::seconds(5)};
};

TEST_F(DocumentRoutesTest, ADocumentIsWrittenAndItsNumberAnswered) {
  const HttpResponse response = Post("application/json; charset=utf-8", R"({"url": "u"})");
  EXPECT_EQ(response.status, 200);
  ASSERT_EQ(writer_.edits_.size(), 1U);
  EXPECT_EQ(json::parse(response.body)["id"], std::to_string(index::DocIdOfUrl("u")));
  EXPECT_EQ(writer_.deadline_, neptune::TimePoint() + std::chrono::seconds(5));
}

TEST_F(DocumentRoutesTest, TheNumberIsThatOfTheDocumentWithTheUrl) {
  const HttpResponse posted = Post("application/json", R"({"url": "http://published/"})");
  EXPECT_EQ(json::parse(posted.body)["id"], "42");
  HttpRequest request;
  request.parameters = {{"url", "http://published/"}};
  EXPECT_EQ(json::parse(routes_.DeleteUrl(request, &changed_).body)["id"], "42");
  ASSERT_EQ(writer_.edits_.size(), 2U);
  EXPECT_EQ(writer_.edits_[1].url, "http://published/");
  EXPECT_FALSE(writer_.edits_[1].content.has_value());
}

TEST_F(DocumentRoutesTest, ARemovalByUrlNeedsOne) {
  EXPECT_EQ(routes_.DeleteUrl({}, &changed_).status, 400);
  HttpRequest request;
  request.parameters = {{"url", ""}};
  EXPECT_EQ(routes_.DeleteUrl(request, &changed_).status, 400);
  EXPECT_TRUE(writer_.edits_.empty());
}

TEST_F(DocumentRoutesTest, ARemovalIsWritten) {
  EXPECT_EQ(Delete("17").status, 200);
  ASSERT_EQ(writer_.edits_.size(), 1U);
  EXPECT_EQ(writer_.edits_[0].doc_id, 17U);
  EXPECT_FALSE(writer_.edits_[0].content.has_value());
}

TEST_F(DocumentRoutesTest, InvalidRequestsAreRejectedAndNotWritten) {
  EXPECT_EQ(Post("text/plain", "x").status, 415);
  const HttpResponse response = Post("application/json", "{}");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(json::parse(response.body)["detail"], "member url: missing");
  EXPECT_EQ(Delete("seven").status, 400);
  std::string many;
  for (size_t i = 0; i <= kEditsMax; ++i) many += "{\"delete\": \"1\"}\n";
  EXPECT_EQ(Post("application/x-ndjson", many).status, 413);
  EXPECT_TRUE(writer_.edits_.empty());
}

TEST_F(DocumentRoutesTest, LargeBodiesAreReadLikeSmallOnes) {
  const std::string text(2 * kParsedInPlaceSizeMax, 'a');
  const std::string document = json{{"url", "u"}, {"text", text}}.dump();
  EXPECT_EQ(Post("application/json", document).status, 200);
  EXPECT_EQ(Post("application/x-ndjson", document + "\n{}\n").status, 200);
  ASSERT_EQ(writer_.edits_.size(), 2U);
  EXPECT_EQ(writer_.edits_[0].content->text(), text);
  EXPECT_EQ(writer_.edits_[1].content->text(), text);
  EXPECT_EQ(json::parse(Post("application/json", std::string(100'000, '[')).body)["detail"],
            "JSON with more than 8 arrays and objects within each other");
  EXPECT_EQ(Post("application/x-ndjson", document + std::string(100'000, '\n') + "x").status, 200);
}

TEST_F(DocumentRoutesTest, WhatWasChangedIsNoted) {
  Delete("7");
  Delete("13");
  Post("application/json", "{}");
  Post("application/x-ndjson", "{\"delete\": 8}\nnonsense\n{\"delete\": 13}\n");
  EXPECT_EQ(changed_.written, (std::vector<uint64_t>{7, 8}));
  EXPECT_EQ(changed_.failed_count, 2U);
}

TEST_F(DocumentRoutesTest, AWriteThatFailedIsAProblemToRetry) {
  const HttpResponse response = Delete("13");
  EXPECT_EQ(response.status, 503);
  EXPECT_TRUE(response.headers.Has("Retry-After"));
}

TEST_F(DocumentRoutesTest, AnIdempotencyKeyNamesARequestWithItsContents) {
  const auto post = [&](const std::string& key, const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.target = request.path = kDocumentsPath;
    request.headers.Set("Content-Type", "application/json");
    if (!key.empty()) request.headers.Set(kIdempotencyKeyHeader, key);
    request.body = body;
    return routes_.Post(request, &changed_).status;
  };
  const std::string body = R"({"url": "u"})";
  EXPECT_EQ(post("one", body), 200);
  EXPECT_EQ(post("one", body), 200);
  EXPECT_EQ(post("one", R"({"url": "v"})"), 200);
  EXPECT_EQ(post("two", body), 200);
  EXPECT_EQ(post("", body), 200);
  const auto& names = writer_.names_;
  ASSERT_EQ(names.size(), 5U);
  EXPECT_EQ(names[0]->key.size(), index::kRequestKeySize);
  EXPECT_EQ(names[1]->key, names[0]->key);
  EXPECT_EQ(names[1]->contents, names[0]->contents);
  EXPECT_EQ(names[2]->key, names[0]->key);
  EXPECT_NE(names[2]->contents, names[0]->contents);
  EXPECT_NE(names[3]->key, names[0]->key);
  EXPECT_FALSE(names[4].has_value());
  EXPECT_EQ(post(std::string(256, 'k'), body), 400);
  EXPECT_EQ(post("a b", body), 400);
}

TEST_F(DocumentRoutesTest, PagesAreReadAndRefusedLineByLine) {
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "<div>";
  const HttpResponse response = Post(
      "application/x-ndjson", "{\"url\": \"u\", \"html\": \"<title>Cats</title><p>A cat\"}\n" +
                                  json{{"url", "v"}, {"html", deep}}.dump() + "\n{\"delete\": 8}");
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["failed"], 1);
  EXPECT_EQ(answer["documents"][0]["status"], 200);
  EXPECT_EQ(answer["documents"][1]["status"], 400);
  EXPECT_EQ(answer["documents"][2]["status"], 200);
  ASSERT_EQ(writer_.edits_.size(), 2U);
  EXPECT_EQ(writer_.edits_[0].content->text(), "A cat");
  EXPECT_EQ(writer_.edits_[0].content->title(), "Cats");
  EXPECT_EQ(Post("application/json", json{{"url", "v"}, {"html", deep}}.dump()).status, 400);
}

TEST_F(DocumentRoutesTest, BulkHasAStatusPerLine) {
  const HttpResponse response =
      Post("application/x-ndjson",
           "{\"url\": \"u\", \"id\": \"5\"}\nnonsense\n{\"delete\": 13}\n{\"delete\": 8}");
  EXPECT_EQ(response.status, 200);
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer["failed"], 2);
  ASSERT_EQ(answer["documents"].size(), 4U);
  EXPECT_EQ(answer["documents"][0], (json{{"line", 1}, {"status", 200}, {"id", "5"}}));
  EXPECT_EQ(answer["documents"][1]["status"], 400);
  EXPECT_EQ(answer["documents"][2]["status"], 503);
  EXPECT_EQ(answer["documents"][3]["status"], 200);
  EXPECT_EQ(writer_.edits_.size(), 3U);
}

}  // namespace
}  // namespace search::frontend
