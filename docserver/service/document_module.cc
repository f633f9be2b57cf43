#include "docserver/service/document_module.h"

#include <glog/logging.h>

#include <atomic>
#include <memory>
#include <vector>

#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "docserver/live/live_store.h"
#include "docserver/registry.h"
#include "docserver/service/folder_state.h"
#include "docserver/snippet/snippet.h"
#include "docserver/taken_number.h"
#include "index/core/query/query.h"
#include "index/core/query/recent_queries.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/parameter_table.h"

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
constexpr size_t kMatchesMax = 2000;
// Work of a summary, in postings that an index tier reads in about that time (kTierStopPostings).
constexpr uint64_t kWorkOfSummary = 4096;

// Making a snippet never parks, so all user-level threads of a kernel thread can share one maker.
SnippetMaker& SnippetMakerOfThisThread() {
  static thread_local SnippetMaker maker;
  return maker;
}

// If the query cannot be parsed, snippets are made without highlighting.
std::shared_ptr<const index::Query> ParseCanonical(const std::string& text) {
  auto query = index::RecentQueries::OfThread().Parse(text);
  return query.ok() ? *std::move(query) : std::make_shared<const index::Query>();
}

SnippetOptions SnippetOptionsOf(const FetchRequest& request) {
  SnippetOptions options;
  options.size_max = std::min(request.snippet_size_max(), kSnippetSizeMax);
  return options;
}

// Bytes of a text that are read for a snippet if its beginning does not suffice: what is scanned,
// and what a passage at the end of that may show.
size_t SnippetTextSizeMax() { return SnippetOptions().scan_size_max + 2 * kSnippetSizeMax; }

// Makes the snippet. False if it may be another one with the text that was not read.
bool MakeSnippet(const StoredDocument& document, const FetchRequest& request,
                 const QueryTerms& query, Summary* summary) {
  const SnippetOptions options = SnippetOptionsOf(request);
  const size_t scanned =
      SnippetMakerOfThisThread().Make(document.text(), query, options, summary->mutable_snippet());
  const size_t size = document.text().size();
  return document.more_text_size() == 0 || size >= SnippetTextSizeMax() ||
         scanned + 2 * options.size_max <= size;
}

// False if the snippet needs more of the text.
bool Summarise(StoredDocument document, const FetchRequest& request, const QueryTerms& query,
               Summary* summary) {
  summary->set_found(true);
  summary->set_url(std::move(*document.mutable_url()));
  summary->set_title(std::move(*document.mutable_title()));
  summary->set_site(std::move(*document.mutable_site()));
  const bool has_snippet =
      request.snippet_size_max() == 0 || MakeSnippet(document, request, query, summary);
  summary->set_public_url(std::move(*document.mutable_public_url()));
  summary->set_signature(document.signature());
  if (!request.with_text()) return has_snippet;
  if (!query.empty()) {
    SnippetMakerOfThisThread().FindMatches(document.text(), query, kMatchesMax,
                                           summary->mutable_query_matches());
  }
  summary->set_text(std::move(*document.mutable_text()));
  summary->set_structure(std::move(*document.mutable_structure()));
  return has_snippet;
}

// Fetches all documents in one call; if one is damaged, fetches them one by one, so that only
// damaged documents are missing.
StatusOr<FetchedDocuments> ReadReadable(const DocumentStore& store,
                                        const std::vector<uint64_t>& ids, size_t text_size_max,
                                        neptune::Counter* damaged,
                                        std::atomic<bool>* has_met_damage) {
  StatusOr<FetchedDocuments> documents = store.FetchBeginnings(ids, text_size_max);
  if (documents.status().code() != neptune::StatusCode::kDataLoss) return documents;
  *has_met_damage = true;
  FetchedDocuments readable;
  for (const uint64_t id : ids) {
    StatusOr<FetchedDocuments> one = store.FetchBeginnings(std::span(&id, 1), text_size_max);
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

index::PartitionFacts DocumentModule::Partition::Facts(uint64_t version) const {
  return {implementation, version, store == nullptr ? 0 : store->document_count()};
}

void DocumentModule::DeclareParameters(neptune::ParameterTable& table) {
  partitions_.DeclareParameters(table);
  table.Choice("implementation", neptune::NamesOf(RegisteredDocumentStores()), &implementation_,
               "variant of docserver/registry.h");
  table.Flag("live", &live_,
             "documents change through the write Change; needs a replication block");
}

Status DocumentModule::Start(ModuleContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      damaged_, context.metrics.AddCounter("search_documents_damaged_total",
                                           "Stored documents that failed their checksum.",
                                           {{"service", context.service.value()}}));
  if (live_) NEPTUNE_RETURN_IF_ERROR(OpenReplicas(context));
  NEPTUNE_RETURN_IF_ERROR(partitions_.Start(
      context, live_ ? "live" : nullptr,
      [this](PartitionId id, const std::string& directory) { return Open(id, directory); }));
  context.registrar.Method(neptune::MethodName(kFetchMethod), {.grain = neptune::Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Fetch(request, in, out);
                           });
  if (live_) {
    context.registrar.Method(neptune::MethodName(kFindUrlsMethod), {.grain = neptune::Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data* out) {
                               return FindUrls(request, in, out);
                             });
  }
  return partitions_.AddStatus(context, StrCat("documents ", context.service));
}

Status DocumentModule::OpenReplicas(ModuleContext& context) {
  replicas_ = std::make_unique<neptune::ReplicatedService>(context);
  replicas_->Write(neptune::MethodName(index::kChangeMethod), &index::ExecuteChangeWrite);
  return replicas_->Open();
}

std::unique_ptr<DocumentModule::Partition> DocumentModule::Open(
    PartitionId id, const std::string& directory) const {
  auto partition = std::make_unique<Partition>();
  partition->path = directory;
  partition->folder_state = FolderState(directory);
  partition->implementation = implementation_;
  StatusOr<std::unique_ptr<DocumentStore>> store =
      OpenDocumentStore(implementation_, directory, DocumentStoreOptions());
  if (!store.ok()) {
    partition->state.NoteFailure(store.status());
    return partition;
  }
  if (replicas_ == nullptr) {
    partition->store = *std::move(store);
  } else {
    partition->changes = std::make_shared<index::StoreReader>(&replicas_->view(id));
    partition->store = std::make_shared<LiveStore>(*std::move(store), partition->changes.get());
  }
  partition->state.SetServed();
  return partition;
}

Status DocumentModule::Health(PartitionId partition) {
  NEPTUNE_RETURN_IF_ERROR(partitions_.Health(partition));
  return replicas_ == nullptr ? neptune::OkStatus() : replicas_->Health(partition);
}

void DocumentModule::Stop() {
  partitions_.Stop();
  if (replicas_ == nullptr) return;
  partitions_.Clear();
  replicas_.reset();
}

StatusOr<FetchedDocuments> DocumentModule::Read(const RequestContext& context,
                                                const Partition& partition,
                                                std::vector<uint64_t> ids,
                                                size_t text_size_max) const {
  // In the simulated world, which has no descriptors, all reads go the same way, whatever the
  // machine's memory holds.
  const bool is_in_memory = neptune::Loop::Current()->readiness() != nullptr &&
                            partition.store->IsInMemory(ids, text_size_max);
  auto read = [store = partition.store, ids = std::move(ids), text_size_max, damaged = damaged_,
               has_met_damage = partition.has_met_damage] {
    return ReadReadable(*store, ids, text_size_max, damaged, has_met_damage.get());
  };
  if (is_in_memory) return read();
  return ReadOnDevice(context, partition, std::move(read));
}

template <typename ReadCall>
auto DocumentModule::ReadOnDevice(const RequestContext& context, const Partition& partition,
                                  ReadCall read) const -> decltype(read()) {
  return neptune::RunOnDevice(partitions_.capsules(), partition.path, std::move(read),
                              {.deadline = context.deadline(),
                               .caller = context.origin().handler,
                               .service_class = context.service_class()});
}

Status DocumentModule::FindUrls(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const FindUrlsRequest* const asked, request.As<FindUrlsRequest>());
  if (asked->urls_size() > kFindUrlsMax) {
    return neptune::InvalidArgument(asked->urls_size(), " urls requested, more than ",
                                    kFindUrlsMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Partition> partition,
                           partitions_.Await(context, 0));
  const std::vector<std::string> urls(asked->urls().begin(), asked->urls().end());
  const auto find = [store = partition->store, urls]() -> StatusOr<FindUrlsResponse> {
    FindUrlsResponse answer;
    for (const std::string& url : urls) {
      NEPTUNE_ASSIGN_OR_RETURN(const auto doc_id, store->FindUrl(url));
      FindUrlsResponse::Found& found = *answer.add_documents();
      found.set_found(doc_id.has_value());
      found.set_doc_id(doc_id.value_or(0));
      if (doc_id.has_value()) continue;
      NEPTUNE_ASSIGN_OR_RETURN(const bool is_taken, IsNumberTaken(*store, url));
      found.set_number_is_taken(is_taken);
    }
    return answer;
  };
  StatusOr<FindUrlsResponse> answer = ReadOnDevice(context, *partition, find);
  if (answer.ok()) *response = Data::Of(*std::move(answer));
  return Checked(context.partition(), partition, answer.status());
}

Status DocumentModule::RemakeSnippet(const RequestContext& context, const Partition& partition,
                                     const FetchRequest& request, const QueryTerms& query,
                                     Summary* summary) const {
  if (context.ShouldStop()) return neptune::DeadlineExceeded("fetching documents");
  NEPTUNE_ASSIGN_OR_RETURN(const FetchedDocuments documents,
                           Read(context, partition, {summary->doc_id()}, SnippetTextSizeMax()));
  // Otherwise the rest of the text is damaged: the snippet of its beginning stays.
  if (documents[0]) MakeSnippet(*documents[0], request, query, summary);
  return neptune::OkStatus();
}

Status DocumentModule::Fetch(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const FetchRequest* const asked, request.As<FetchRequest>());
  if (asked->doc_ids_size() > static_cast<int>(kFetchCountMax)) {
    return neptune::InvalidArgument(asked->doc_ids_size(), " documents requested, more than ",
                                    kFetchCountMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Partition> partition,
                           partitions_.Await(context, asked->index_version()));
  return Checked(context.partition(), partition, Answer(context, *asked, *partition, response));
}

Status DocumentModule::Checked(PartitionId id, const std::shared_ptr<Partition>& partition,
                               const Status& status) {
  Status sound = partition->store->CheckSound();
  if (sound.ok() && partition->has_met_damage->exchange(false) &&
      FolderState(partition->path) != partition->folder_state) {
    sound = neptune::DataLoss(partition->path, " has damaged documents, and other files since");
  }
  if (sound.code() != neptune::StatusCode::kDataLoss) return sound.ok() ? status : sound;
  partitions_.NoteDamage(id, partition, sound);
  return neptune::Unavailable("partition ", id, " is damaged: ", sound.message());
}

Status DocumentModule::Answer(RequestContext& context, const FetchRequest& asked,
                              const Partition& partition, Data* response) {
  const std::vector<uint64_t> ids(asked.doc_ids().begin(), asked.doc_ids().end());
  const size_t text_size_max = asked.with_text() ? SIZE_MAX : kTextPieceSize;
  NEPTUNE_ASSIGN_OR_RETURN(FetchedDocuments documents,
                           Read(context, partition, ids, text_size_max));
  const std::shared_ptr<const index::Query> query = ParseCanonical(asked.query());
  const QueryTerms terms(*query);
  FetchResponse answer;
  answer.set_implementation(implementation_);
  std::vector<int> unfinished;  // their snippets need more of the texts
  context.ExpectWork(documents.size() * kWorkOfSummary);
  for (size_t i = 0; i < documents.size(); ++i) {
    Summary* const summary = answer.add_summaries();
    summary->set_doc_id(ids[i]);
    if (i > 0) context.GiveWay(kWorkOfSummary);
    if (context.ShouldStop()) return neptune::DeadlineExceeded("fetching documents");
    if (documents[i] && !Summarise(*std::move(documents[i]), asked, terms, summary)) {
      unfinished.push_back(static_cast<int>(i));
    }
  }
  for (const int i : unfinished) {
    NEPTUNE_RETURN_IF_ERROR(
        RemakeSnippet(context, partition, asked, terms, answer.mutable_summaries(i)));
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

}  // namespace search::docserver
