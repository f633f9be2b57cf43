// Documents that change, over replicated partitions of an index tier and of the document servers,
// on whole nodes of a simulated cluster: s0, s1 and s2 each hold both services, c calls.

#include <glog/logging.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "docserver/registry.h"
#include "docserver/service/document_module.h"
#include "frontend/documents/replicated_writer.h"
#include "index/tier/registry.h"
#include "index/tier/service/tier_module.h"
#include "index/tier/tier_service.h"
#include "index/updates/change_write.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/node/echo_module.h"
#include "neptune/node/node.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"

namespace search {
namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::PartitionId;
using neptune::ServiceName;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeModule(const std::string& module) {
  if (module == "index_tier") return std::make_unique<index::TierModule>();
  if (module == "document_server") return std::make_unique<docserver::DocumentModule>();
  if (module == "echo") return std::make_unique<neptune::EchoModule>();
  return neptune::NotFound("module ", module);
}

class LiveUpdatesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::path(testing::TempDir()) / StrCat("live_updates.", ::getpid());
    std::filesystem::remove_all(root_);
    Publish();
    AdoptSpec(Spec());
    nodes_.AddAll(spec_);
    simulator_.RunFor(seconds(2));
    for (const auto& [node, status] : starts_) ASSERT_TRUE(status.ok()) << node << status;
  }
  void AdoptSpec(const std::string& text) {
    const StatusOr<neptune::ClusterSpec> spec = neptune::ParseClusterSpec(text, "test");
    ASSERT_TRUE(spec.ok()) << spec.status();
    spec_ = *spec;
  }
  void TearDown() override {
    simulator_.RunFor(seconds(3));
    for (const std::string& host : simulator_.host_names()) simulator_.Crash(host);
    std::filesystem::remove_all(root_);
  }

  // One published document, 1, about a cat.
  void Publish() {
    const std::string tier = (root_ / "tier1/0").string();
    const auto builder = index::CreateTierBuilder("segment", {.directory = tier});
    ASSERT_TRUE((*builder)->Add({.doc_id = 1, .title = "cat"}).ok());
    ASSERT_TRUE((*builder)->Finish().ok());
    ASSERT_TRUE(index::FinishTierCollection("segment", {tier}, {}).ok());
    docserver::DocumentStoreOptions options;
    options.mode = docserver::DocumentStoreOptions::Mode::kBuild;
    std::filesystem::create_directories(root_ / "docs");
    const auto store =
        docserver::OpenDocumentStore("flat_file", (root_ / "docs/0").string(), options);
    ASSERT_TRUE(store.ok()) << store.status();
    docserver::StoredDocument document;
    document.set_doc_id(1);
    document.set_title("cat");
    ASSERT_TRUE((*store)->Put(std::span(&document, 1)).ok());
    ASSERT_TRUE((*store)->Seal().ok());
  }

  // `counts`: of partitions, of the index tier and of the document servers.
  std::string Spec(std::pair<int, int> counts = {1, 1}) const {
    const auto parameter = [](const std::string& key, const std::string& value) {
      return StrCat(" parameters { key: '", key, "' value: '", value, "' }");
    };
    std::string text = StrCat(
        "name: 'test' multicast_group: '239.192.7.3:7400' ",
        "services { name: 'tier1' module: 'index_tier' partition_count: ", counts.first,
        " replication { level: 'ordered_writes' }", parameter("path", (root_ / "tier1").string()),
        parameter("live_path", (root_ / "live").string()),
        " } services { name: 'docs' module: 'document_server' partition_count: ", counts.second,
        " replication { level: 'ordered_writes' }", parameter("path", (root_ / "docs").string()),
        parameter("implementation", "flat_file"), parameter("live", "true"),
        " } services { name: 'idle' module: 'echo' } ",
        "nodes { name: 'c' hosts { service: 'idle' } } ");
    for (const char* node : {"s0", "s1", "s2"}) {
      neptune::StrAppend(&text, "nodes { name: '", node,
                         "' hosts { service: 'tier1' } hosts { service: 'docs' } } ");
    }
    return text;
  }

  void InSession(const std::function<void(neptune::ReplicaSession&)>& body) {
    const auto with_replicas = [&](neptune::ClientSession& session) {
      neptune::ReplicaSession replicas(std::move(session));
      body(replicas);
    };
    ASSERT_TRUE(nodes_.Run("c", with_replicas, seconds(60)));
  }

  static Status Change(neptune::ReplicaSession& session, const char* service,
                       const index::PartitionChange& change) {
    Data response;
    return session.Call({ServiceName(service), PartitionId(0),
                         neptune::MethodName(index::kChangeMethod), AccessMode::kWrite},
                        Data(change.SerializeAsString()), &response,
                        {.deadline = neptune::this_thread::Now() + seconds(10)});
  }

  void Upsert(uint64_t doc_id, const std::string& title) {
    index::PartitionChange change;
    change.add_documents()->set_doc_id(doc_id);
    change.mutable_documents(0)->set_version(++version_);
    change.mutable_documents(0)->mutable_upsert()->set_url("http://a/");
    change.mutable_documents(0)->mutable_upsert()->set_title(title);
    Make(change);
  }
  void Remove(uint64_t doc_id) {
    index::PartitionChange change;
    change.add_documents()->set_doc_id(doc_id);
    change.mutable_documents(0)->set_version(++version_);
    change.mutable_documents(0)->mutable_removal();
    Make(change);
  }
  void Make(const index::PartitionChange& change) {
    InSession([&](neptune::ReplicaSession& session) {
      for (const char* service : {"docs", "tier1"}) {
        const Status status = Change(session, service, change);
        EXPECT_TRUE(status.ok()) << service << ": " << status;
      }
    });
  }

  // What a node's replica finds.
  std::set<uint64_t> Found(const std::string& node, const std::string& word) {
    std::set<uint64_t> found;
    InSession([&](neptune::ReplicaSession& session) {
      index::TierQuery query;
      query.set_query(word);
      query.set_hit_count_max(10);
      Data response;
      const Status status =
          neptune::Call(session.session(),
                        {ServiceName("tier1"), PartitionId(0),
                         neptune::MethodName(index::kTierSearchMethod), AccessMode::kRead},
                        Data::Of(std::move(query)), &response, {.only = neptune::NodeId(node)});
      ASSERT_TRUE(status.ok()) << node << ": " << status;
      const auto answer = response.As<index::TierAnswer>();
      ASSERT_TRUE(answer.ok()) << answer.status();
      for (const index::TierHit& hit : (*answer)->hits()) found.insert(hit.doc_id());
    });
    return found;
  }
  std::string TitleOf(const std::string& node, uint64_t doc_id) {
    std::string title;
    InSession([&](neptune::ReplicaSession& session) {
      docserver::FetchRequest request;
      request.add_doc_ids(doc_id);
      Data response;
      const Status status =
          neptune::Call(session.session(),
                        {ServiceName("docs"), PartitionId(0),
                         neptune::MethodName(docserver::kFetchMethod), AccessMode::kRead},
                        Data::Of(std::move(request)), &response, {.only = neptune::NodeId(node)});
      ASSERT_TRUE(status.ok()) << node << ": " << status;
      const auto answer = response.As<docserver::FetchResponse>();
      ASSERT_TRUE(answer.ok()) << answer.status();
      title = (*answer)->summaries(0).found() ? (*answer)->summaries(0).title() : "none";
    });
    return title;
  }

  std::filesystem::path root_;
  neptune::ClusterSpec spec_;
  std::map<std::string, Status> starts_;  // what the last start of each node came to
  neptune::SimulatedNodes nodes_{{
      .make_options =
          [this](const std::string&) {
            return neptune::NodeOptions{.spec = spec_, .modules = MakeModule};
          },
      .on_start = [this](const std::string& name, const Status& status) { starts_[name] = status; },
  }};
  neptune::Simulator& simulator_ = nodes_.simulator();
  uint64_t version_ = 0;
};

using Numbers = std::set<uint64_t>;

TEST_F(LiveUpdatesTest, EveryReplicaFindsAChangeWithinTwoSecondsOfItsAcknowledgement) {
  Upsert(7, "bird");
  Upsert(1, "cat bird");
  simulator_.RunFor(milliseconds(1500));
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_EQ(Found(node, "bird"), (Numbers{1, 7})) << node;
    EXPECT_EQ(TitleOf(node, 7), "bird") << node;
    EXPECT_EQ(TitleOf(node, 1), "cat bird") << node;
  }
  Remove(1);
  simulator_.RunFor(milliseconds(1500));
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_EQ(Found(node, "cat"), Numbers{}) << node;
    EXPECT_EQ(TitleOf(node, 1), "none") << node;
  }
}

TEST_F(LiveUpdatesTest, AWriterReachesTiersAndDocumentServers) {
  frontend::DocumentEdit bird{.doc_id = 7, .content = index::DocumentContent()};
  bird.content->set_url("http://b/");
  bird.content->set_title("bird");
  frontend::DocumentEdit newer = bird;
  newer.content->set_title("fish");
  const frontend::DocumentEdit removal{.doc_id = 1, .content = std::nullopt};
  const auto write = [&](neptune::ClientSession& session) {
    frontend::ReplicatedWriter writer(session.client(), simulator_.host("c"),
                                      {.partitions = {.tier1 = 1, .tier2 = 0, .documents = 1}});
    const auto deadline = neptune::this_thread::Now() + seconds(10);
    for (const auto& written : writer.Write({{bird, removal, newer}, std::nullopt, deadline})) {
      EXPECT_TRUE(written.status.ok()) << written.status;
    }
  };
  ASSERT_TRUE(nodes_.Run("c", write, seconds(20)));
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(Found("s2", "fish"), Numbers{7});
  EXPECT_EQ(Found("s2", "bird"), Numbers{});
  EXPECT_EQ(Found("s2", "cat"), Numbers{});
  EXPECT_EQ(TitleOf("s1", 7), "fish");
}

TEST_F(LiveUpdatesTest, NothingAcknowledgedIsLostWhenThePrimaryLosesItsPower) {
  Numbers expected;
  for (uint64_t doc_id = 10; doc_id < 16; ++doc_id) {
    Upsert(doc_id, "bird");
    expected.insert(doc_id);
    if (doc_id == 12) simulator_.Crash("s0");
  }
  simulator_.Restart("s0");
  simulator_.RunFor(seconds(10));
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_EQ(Found(node, "bird"), expected) << node;
    EXPECT_EQ(TitleOf(node, 15), "bird") << node;
  }
}

// The node starts without them, and its tier opens once they are there.
TEST_F(LiveUpdatesTest, ATierWhoseDataAreNotOpenAtTheStartIsServedLater) {
  Upsert(7, "bird");
  neptune::SimStorage& storage = simulator_.host("s2").sim_storage();
  const auto reasons = [&] {
    std::string all;
    for (const std::string& one : nodes_.node("s2").FindReplication()->Failures()) all += one;
    return all;
  };
  simulator_.Crash("s2", neptune::CrashKind::kProcess);
  storage.FailOpens(neptune::Unavailable("too many open files"));
  simulator_.Restart("s2");
  simulator_.RunFor(seconds(5));
  ASSERT_TRUE(starts_["s2"].ok()) << starts_["s2"];
  EXPECT_NE(reasons(), "");
  storage.FailOpens(neptune::OkStatus());
  simulator_.RunFor(seconds(45));  // longer than the longest delays together
  EXPECT_EQ(reasons(), "");
  EXPECT_EQ(Found("s2", "bird"), Numbers{7});
  Upsert(8, "bird");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(Found("s2", "bird"), (Numbers{7, 8})) << "it is kept fresh";
}

TEST_F(LiveUpdatesTest, ANodeDoesNotStartOverChangesOfAnotherNumberOfPartitions) {
  Upsert(7, "bird");
  const char* const stores[] = {"s0", "s1", "s2"};
  for (const auto& [counts, why] :
       {std::pair(std::pair(2, 1), "of tier1 are in 1 partitions, but the spec has 2"),
        std::pair(std::pair(1, 3), "of docs are in 1 partitions, but the spec has 3")}) {
    for (const char* node : stores) simulator_.Crash(node);
    AdoptSpec(Spec(counts));
    for (const char* node : stores) {
      simulator_.Restart(node);
      simulator_.RunFor(seconds(2));
      EXPECT_EQ(starts_[node].code(), neptune::StatusCode::kFailedPrecondition) << starts_[node];
      EXPECT_NE(neptune::ToStd(starts_[node].message()).find(why), std::string::npos)
          << starts_[node];
    }
  }
  for (const char* node : stores) simulator_.Crash(node);
  AdoptSpec(Spec());
  for (const char* node : stores) simulator_.Restart(node);
  simulator_.RunFor(seconds(5));
  for (const char* node : stores) {
    EXPECT_TRUE(starts_[node].ok()) << starts_[node];
    EXPECT_EQ(Found(node, "bird"), Numbers{7}) << node;
  }
}

TEST_F(LiveUpdatesTest, AMalformedChangeIsRefusedByAllAndChangesNothing) {
  InSession([&](neptune::ReplicaSession& session) {
    Data response;
    const Status status = session.Call(
        {ServiceName("tier1"), PartitionId(0), neptune::MethodName(index::kChangeMethod),
         AccessMode::kWrite},
        Data("no change"), &response, {.deadline = neptune::this_thread::Now() + seconds(10)});
    EXPECT_EQ(status.code(), neptune::StatusCode::kInvalidArgument) << status;
  });
  Upsert(7, "bird");
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(Found("s1", "bird"), Numbers{7});
}

}  // namespace
}  // namespace search
