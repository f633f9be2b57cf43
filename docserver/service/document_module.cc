#include "docserver/service/document_module.h"

#include <glog/logging.h>

#include <filesystem>
#include <vector>

#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "docserver/live/live_store.h"
#include "docserver/registry.h"
#include "docserver/snippet/snippet.h"
#include "index/versions/await_version.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/client.h"

namespace search::docserver {

using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

namespace {

constexpr uint32_t kSnippetSizeMax = 2000;

// Making a snippet never parks, so all user-level threads of a kernel thread can share one maker.
SnippetMaker& SnippetMakerOfThisThread() {
  static thread_local SnippetMaker maker;
  return maker;
}

// If the query cannot be parsed, snippets are made without highlighting.
index::Query ParseCanonical(const std::string& text) {
  StatusOr<index::Query> query = index::ParseQuery(text, index::ParseLimits::ForCanonical());
  return query.ok() ? *std::move(query) : index::Query();
}

void Summarise(StoredDocument document, const FetchRequest& request, const index::Query& query,
               Summary* summary) {
  summary->set_found(true);
  summary->set_url(std::move(*document.mutable_url()));
  summary->set_title(std::move(*document.mutable_title()));
  summary->set_site(std::move(*document.mutable_site()));
  if (request.snippet_size_max() > 0) {
    SnippetOptions options;
    options.size_max = std::min(request.snippet_size_max(), kSnippetSizeMax);
    SnippetMakerOfThisThread().Make(document.text(), query, options, summary->mutable_snippet());
  }
  if (request.with_text()) summary->set_text(std::move(*document.mutable_text()));
}

// Fetches all documents in one call; if one is damaged, fetches them one by one, so that only
// damaged documents are missing.
StatusOr<FetchedDocuments> ReadReadable(const DocumentStore& store,
                                        const std::vector<uint64_t>& ids,
                                        neptune::Counter* damaged) {
  StatusOr<FetchedDocuments> documents = store.Fetch(ids);
  if (documents.status().code() != neptune::StatusCode::kDataLoss) return documents;
  FetchedDocuments readable;
  for (const uint64_t id : ids) {
    StatusOr<FetchedDocuments> one = store.Fetch(std::span(&id, 1));
    if (one.ok()) {
      readable.push_back(std::move(one->front()));
      continue;
    }
    damaged->Increment();
    LOG_EVERY_N(ERROR, 100) << "document " << id << ": " << one.status();
    readable.push_back(std::nullopt);
  }
  return readable;
}

}  // namespace

Status DocumentModule::Start(ModuleContext& context) {
  const auto path = context.parameters.find("path");
  if (path == context.parameters.end()) {
    return neptune::InvalidArgument("document servers require the parameter 'path'");
  }
  if (const auto chosen = context.parameters.find("implementation");
      chosen != context.parameters.end()) {
    implementation_ = chosen->second;
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      damaged_, context.metrics.AddCounter("search_documents_damaged_total",
                                           "Stored documents that failed their checksum.",
                                           {{"service", context.service.value()}}));
  service_ = context.service.value();
  base_directory_ = context.base_directory;
  path_ = path->second;
  ids_ = context.partitions;
  capsules_ = &context.client.capsules();
  NEPTUNE_RETURN_IF_ERROR(OpenReplicas(context));
  NEPTUNE_RETURN_IF_ERROR(StartVersions(context, context.parameters["versions"]));
  context.registrar.Method(neptune::MethodName(kFetchMethod), {.grain = neptune::Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Fetch(request, in, out);
                           });
  if (replicas_ != nullptr) {
    context.registrar.Method(neptune::MethodName(kFindUrlsMethod), {.grain = neptune::Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return FindUrls(request, in, out);
                             });
  }
  return AddStatus(context);
}

Status DocumentModule::StartVersions(const ModuleContext& context, const std::string& list) {
  const auto take = [this](const index::VersionList* versions) {
    return versions_.Take(versions, [this](const index::IndexVersion& version, Status* status) {
      return OpenVersion(version, status);
    });
  };
  if (list.empty()) return take(nullptr);
  if (replicas_ != nullptr) {
    return neptune::InvalidArgument("parameters live and versions exclude each other: ",
                                    "a change applies only to the version it was made on");
  }
  const auto path = std::filesystem::path(base_directory_) / list;
  NEPTUNE_ASSIGN_OR_RETURN(watch_, index::VersionWatch::Start(context.world, service_ + "-versions",
                                                              path.string(), take));
  NEPTUNE_ASSIGN_OR_RETURN(version_section_, context.status.Add(index::VersionSectionName(service_),
                                                                [watch = watch_](auto* report) {
                                                                  watch->Describe(report);
                                                                }));
  return neptune::OkStatus();
}

std::shared_ptr<DocumentModule::Version> DocumentModule::OpenVersion(
    const index::IndexVersion& version, Status* status) {
  const std::filesystem::path root =
      std::filesystem::absolute(std::filesystem::path(base_directory_) / version.folder / path_)
          .lexically_normal();
  if (capsules_ != nullptr) {
    const std::string name = version.name.empty() ? "" : "-" + version.name;
    const Status made =
        neptune::MakeDeviceCapsule(*capsules_, StrCat(service_, "-store", name), root.string());
    LOG_IF(WARNING, !made.ok()) << "reads of " << service_
                                << " block its workers, no capsule: " << made;
  }
  auto opened = std::make_shared<Version>();
  for (const PartitionId& id : ids_) {
    Partition partition = Open(id, (root / StrCat(id)).string());
    LOG_IF(ERROR, !partition.status.ok())
        << service_ << "/" << id << " " << version.name << " is not served: " << partition.status;
    status->Update(partition.status);
    opened->partitions.emplace(id, std::move(partition));
  }
  return opened;
}

Status DocumentModule::OpenReplicas(ModuleContext& context) {
  const auto live = context.parameters.find("live");
  if (live == context.parameters.end() || live->second == "false") return neptune::OkStatus();
  if (live->second != "true") {
    return neptune::InvalidArgument("parameter live is '", live->second,
                                    "'; must be true or false");
  }
  replicas_ = std::make_unique<neptune::ReplicatedService>(context);
  replicas_->Write(neptune::MethodName(index::kChangeMethod), &index::ExecuteChangeWrite);
  return replicas_->Open();
}

DocumentModule::Partition DocumentModule::Open(PartitionId id, const std::string& path) const {
  Partition partition;
  partition.path = path;
  StatusOr<std::unique_ptr<DocumentStore>> store =
      OpenDocumentStore(implementation_, path, DocumentStoreOptions());
  partition.status = store.status();
  if (!store.ok()) return partition;
  if (replicas_ == nullptr) {
    partition.store = *std::move(store);
    return partition;
  }
  partition.changes = std::make_shared<index::StoreReader>(&replicas_->view(id));
  partition.store = std::make_shared<LiveStore>(*std::move(store), partition.changes.get());
  return partition;
}

Status DocumentModule::Health(PartitionId partition) {
  const std::shared_ptr<Version> current = versions_.Find(0);
  const auto found = current->partitions.find(partition);
  if (found == current->partitions.end()) return neptune::NotFound("partition ", partition);
  NEPTUNE_RETURN_IF_ERROR(found->second.status);
  return replicas_ == nullptr ? neptune::OkStatus() : replicas_->Health(partition);
}

void DocumentModule::Stop() {
  if (watch_ != nullptr) watch_->Stop();
  if (replicas_ == nullptr) return;
  versions_.Clear();
  replicas_.reset();
}

StatusOr<FetchedDocuments> DocumentModule::Read(const RequestContext& context,
                                                const Partition& partition,
                                                const FetchRequest& request) const {
  const std::vector<uint64_t> ids(request.doc_ids().begin(), request.doc_ids().end());
  return ReadOnDevice(context, partition, [store = partition.store, ids, damaged = damaged_] {
    return ReadReadable(*store, ids, damaged);
  });
}

template <typename ReadCall>
auto DocumentModule::ReadOnDevice(const RequestContext& context, const Partition& partition,
                                  ReadCall read) const -> decltype(read()) {
  if (capsules_ == nullptr) return read();
  NEPTUNE_ASSIGN_OR_RETURN(auto result,
                           neptune::RunOnDevice(*capsules_, partition.path, std::move(read),
                                                {.deadline = context.deadline(),
                                                 .caller = context.origin().handler,
                                                 .service_class = context.service_class()}));
  return result;
}

StatusOr<const DocumentModule::Partition*> DocumentModule::Served(const Version& version,
                                                                  PartitionId id) {
  const Partition& partition = version.partitions.at(id);
  if (partition.status.ok()) return &partition;
  return neptune::Unavailable("partition ", id, " is not served: ", partition.status.message());
}

Status DocumentModule::FindUrls(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const FindUrlsRequest* const asked, request.As<FindUrlsRequest>());
  if (asked->urls_size() > kFindUrlsMax) {
    return neptune::InvalidArgument(asked->urls_size(), " urls requested, more than ",
                                    kFindUrlsMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Version> version,
                           index::AwaitVersion(context, versions_, 0));
  NEPTUNE_ASSIGN_OR_RETURN(const Partition* const partition, Served(*version, context.partition()));
  const std::vector<std::string> urls(asked->urls().begin(), asked->urls().end());
  const auto find = [store = partition->store, urls]() -> StatusOr<FindUrlsResponse> {
    FindUrlsResponse answer;
    for (const std::string& url : urls) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto doc_id, store->FindUrl(url));
      FindUrlsResponse::Found& found = *answer.add_documents();
      found.set_found(doc_id.has_value());
      found.set_doc_id(doc_id.value_or(0));
    }
    return answer;
  };
  NEPTUNE_ASSIGN_OR_RETURN(FindUrlsResponse answer, ReadOnDevice(context, *partition, find));
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status DocumentModule::Fetch(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const FetchRequest* const asked, request.As<FetchRequest>());
  if (asked->doc_ids_size() > static_cast<int>(kFetchCountMax)) {
    return neptune::InvalidArgument(asked->doc_ids_size(), " documents requested, more than ",
                                    kFetchCountMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Version> version,
                           index::AwaitVersion(context, versions_, asked->index_version()));
  NEPTUNE_ASSIGN_OR_RETURN(const Partition* const partition, Served(*version, context.partition()));
  NEPTUNE_ASSIGN_OR_RETURN(FetchedDocuments documents, Read(context, *partition, *asked));
  const index::Query query = ParseCanonical(asked->query());
  FetchResponse answer;
  answer.set_implementation(implementation_);
  for (size_t i = 0; i < documents.size(); ++i) {
    Summary* const summary = answer.add_summaries();
    summary->set_doc_id(asked->doc_ids(static_cast<int>(i)));
    if (context.ShouldStop()) return neptune::DeadlineExceeded("fetching documents");
    if (documents[i]) Summarise(*std::move(documents[i]), *asked, query, summary);
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status DocumentModule::AddStatus(ModuleContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      section_, context.status.Add(StrCat("documents ", context.service), [this](auto* report) {
        neptune::StatusTable table{
            "Partitions", {"partition", "implementation", "version", "documents", "state"}, {}};
        for (const auto& [number, version] : versions_.all()) {
          for (const auto& [id, partition] : version->partitions) {
            table.AddRow(
                id.value(), implementation_, number,
                partition.store == nullptr ? 0 : partition.store->document_count(),
                partition.status.ok() ? std::string("serving") : partition.status.ToString());
          }
        }
        report->tables.push_back(std::move(table));
      }));
  return neptune::OkStatus();
}

}  // namespace search::docserver
