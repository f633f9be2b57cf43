// The module on a simulated node, with a real store.

#include "docserver/service/document_module.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "docserver/registry.h"
#include "neptune/base/strings.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/wire/incoming_call.h"

namespace search::docserver {
namespace {

using neptune::Data;
using neptune::ModuleContext;
using neptune::RequestContext;
using neptune::Status;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kDocumentCount = 20;

// What the module said about the work of a request.
struct WorkSaid {
  uint64_t expected = 0;
  uint64_t done = 0;
  int stop_after = 1000;  // places where it gives way until its request is cancelled
  int given_way = 0;
};

class Listener final : public neptune::TurnTaker {
 public:
  Listener(const RequestContext& request, WorkSaid* said) : request_(request), said_(*said) {}
  void Expect(uint64_t work) override { said_.expected += work; }
  bool Advance(uint64_t done) override {
    said_.done += done;
    if (++said_.given_way == said_.stop_after) request_.call()->Cancel();
    return true;
  }

 private:
  const RequestContext& request_;
  WorkSaid& said_;
};

// Passes methods on to the node, with a listener in the place of the pool.
class ListeningRegistrar final : public neptune::ServiceRegistrar {
 public:
  ListeningRegistrar(ServiceRegistrar& registrar, WorkSaid* said)
      : registrar_(registrar), said_(said) {}
  void Method(const neptune::MethodName& name, const neptune::MethodOptions& options,
              neptune::MethodFunction function) override {
    registrar_.Method(name, options,
                      [said = said_, function](RequestContext& request, const Data& in, Data* out) {
                        Listener listener(request, said);
                        request.SetTurns(&listener);
                        Status status = function(request, in, out);
                        request.SetTurns(nullptr);
                        return status;
                      });
  }
  void Stream(const neptune::MethodName& name, const neptune::MethodOptions& options,
              neptune::StreamFunction function) override {
    registrar_.Stream(name, options, std::move(function));
  }
  void Reduce(const neptune::MethodName& name, const neptune::ReduceOptions& options,
              neptune::ReduceOperator reduce) override {
    registrar_.Reduce(name, options, std::move(reduce));
  }
  void ReduceStream(const neptune::MethodName& name,
                    neptune::StreamReduceOperator reduce) override {
    registrar_.ReduceStream(name, std::move(reduce));
  }

 private:
  ServiceRegistrar& registrar_;
  WorkSaid* const said_;
};

class ListenedModule final : public neptune::ServiceModule {
 public:
  explicit ListenedModule(WorkSaid* said) : said_(said) {}
  void DeclareParameters(neptune::ParameterTable& table) override {
    module_.DeclareParameters(table);
  }
  Status Start(ModuleContext& context) override {
    registrar_ = std::make_unique<ListeningRegistrar>(context.registrar, said_);
    ModuleContext inner{.node = context.node,
                        .service = context.service,
                        .partitions = context.partitions,
                        .base_directory = context.base_directory,
                        .registrar = *registrar_,
                        .client = context.client,
                        .world = context.world,
                        .metrics = context.metrics,
                        .status = context.status};
    return module_.Start(inner);
  }
  Status Health(neptune::PartitionId partition) override { return module_.Health(partition); }
  std::string implementation() const override { return module_.implementation(); }
  void Stop() override { module_.Stop(); }

 private:
  WorkSaid* const said_;
  std::unique_ptr<ListeningRegistrar> registrar_;
  DocumentModule module_;
};

class DocumentModuleTest : public testing::Test {
 protected:
  DocumentModuleTest() {
    std::filesystem::create_directories(root_);
    BuildStore();
    spec_ = neptune::ParseClusterSpec(
                StrCat("name: 'docs-test' multicast_group: '239.192.7.3:7000' "
                       "services { name: 'docs' module: 'documents' "
                       "parameters { key: 'path' value: '",
                       root_.string(),
                       "' } parameters { key: 'implementation' value: 'flat_file' } } "
                       "nodes { name: 'n' hosts { service: 'docs' } }"),
                "test")
                .value();
    nodes_ = std::make_unique<neptune::SimulatedNodes>(
        neptune::SimulatedNodesOptions{.make_options = [this](const std::string&) {
          return neptune::NodeOptions{
              .spec = spec_,
              .modules =
                  [this](const std::string&) { return std::make_unique<ListenedModule>(&said_); },
              .with_admin = false};
        }});
    nodes_->AddAll(spec_);
    nodes_->simulator().RunFor(milliseconds(500));
  }
  ~DocumentModuleTest() override {
    nodes_.reset();
    std::filesystem::remove_all(root_);
  }

  void BuildStore() {
    DocumentStoreOptions options;
    options.mode = DocumentStoreOptions::Mode::kBuild;
    auto store = OpenDocumentStore("flat_file", (root_ / "0").string(), options);
    ASSERT_TRUE(store.ok()) << store.status();
    std::vector<StoredDocument> documents(kDocumentCount);
    for (uint64_t i = 0; i < kDocumentCount; ++i) {
      documents[i].set_doc_id(i);
      documents[i].set_url(StrCat("http://d/", i));
      documents[i].set_title(StrCat("Document ", i));
      documents[i].set_text("A bird is a bird is a bird.");
    }
    ASSERT_TRUE((*store)->Put(documents).ok());
    ASSERT_TRUE((*store)->Seal().ok());
  }

  Status Fetch(FetchResponse* answer) {
    FetchRequest request;
    for (uint64_t i = 0; i < kDocumentCount; ++i) request.add_doc_ids(i);
    request.set_query("bird");
    request.set_snippet_size_max(100);
    Status status = neptune::Unavailable("not called");
    nodes_->Run(
        "n",
        [&](neptune::ClientSession& session) {
          Data response;
          status = neptune::Call(session,
                                 {neptune::ServiceName("docs"), neptune::PartitionId(0),
                                  neptune::MethodName(kFetchMethod)},
                                 Data::Of(request), &response);
          if (status.ok()) *answer = **response.As<FetchResponse>();
        },
        seconds(10));
    return status;
  }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / StrCat("document_module_", getpid());
  WorkSaid said_;
  neptune::ClusterSpec spec_;
  std::unique_ptr<neptune::SimulatedNodes> nodes_;
};

TEST_F(DocumentModuleTest, FetchGivesWayBetweenDocuments) {
  FetchResponse answer;
  const Status status = Fetch(&answer);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(answer.summaries_size(), static_cast<int>(kDocumentCount));
  EXPECT_EQ(answer.summaries(7).title(), "Document 7");
  EXPECT_EQ(said_.given_way, static_cast<int>(kDocumentCount) - 1);
  EXPECT_EQ(said_.expected * (kDocumentCount - 1), said_.done * kDocumentCount);
}

TEST_F(DocumentModuleTest, FetchEndsWhereItHasGivenWayIfNobodyWaitsForIt) {
  said_.stop_after = 5;
  FetchResponse answer;
  EXPECT_FALSE(Fetch(&answer).ok());
  EXPECT_EQ(said_.given_way, 5);
}

TEST_F(DocumentModuleTest, AStoreOpenedWithDamageIsOpenedAgainOnceOtherFilesAreInItsPlace) {
  const std::filesystem::path file = root_ / "0" / "documents.dat";
  const std::filesystem::path clean = root_ / "clean";
  std::filesystem::copy_file(file, clean);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(size - 20).put('\x55');
  std::filesystem::last_write_time(file,
                                   std::filesystem::last_write_time(file) - std::chrono::hours(1));

  FetchResponse answer;
  EXPECT_EQ(Fetch(&answer).code(), neptune::StatusCode::kUnavailable);  // it was changed in use
  nodes_->simulator().RunFor(seconds(5));
  ASSERT_TRUE(Fetch(&answer).ok());  // opening reads no blocks
  EXPECT_EQ(answer.summaries(kDocumentCount - 1).title(), "");

  std::filesystem::rename(clean, file);
  EXPECT_EQ(Fetch(&answer).code(), neptune::StatusCode::kUnavailable);
  nodes_->simulator().RunFor(seconds(5));
  const Status status = Fetch(&answer);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(answer.summaries(kDocumentCount - 1).title(), StrCat("Document ", kDocumentCount - 1));
}

}  // namespace
}  // namespace search::docserver
