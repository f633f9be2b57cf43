#include "frontend/search_plan/document_client.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "docserver/document_service.h"
#include "frontend/policy/plan_policy.h"
#include "frontend/suggest/both_tiers.h"
#include "index/tier/operators.h"
#include "index/tier/tier_service.h"
#include "index/tier/title_operators.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using docserver::FetchRequest;
using docserver::FetchResponse;
using neptune::AccessMode;
using neptune::ClientSession;
using neptune::Data;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;
using neptune::TimePoint;

// Minimum number of samples for an estimate of the tail, and minimum delay of a hedged request.
constexpr size_t kTimesMin = 32;
constexpr neptune::Duration kHedgeAfterMin = std::chrono::milliseconds(2);
constexpr double kHedgeQuantile = 0.95;

TimePoint DeadlineOf(const DocumentRequest& request, const SearchPlanOptions& options) {
  return request.deadline.value_or(neptune::this_thread::Now() + options.document_timeout);
}

}  // namespace

std::optional<neptune::Duration> DocumentClient::Shared::HedgeAfter() {
  if (!options.hedge_documents) return std::nullopt;
  neptune::LeafLock lock(&mutex);
  if (times.size() < kTimesMin) return std::nullopt;
  return std::max(kHedgeAfterMin, times.Quantile(kHedgeQuantile));
}

void DocumentClient::Shared::CountAnswer(neptune::Duration time) {
  neptune::LeafLock lock(&mutex);
  times.Add(time);
}

DocumentClient::DocumentClient(const SearchPlanOptions& options)
    : shared_(std::make_shared<Shared>(options)) {}

StatusOr<FetchResponse> DocumentClient::Fetch(Shared& shared, ClientSession& session,
                                              uint32_t partition, FetchRequest request,
                                              TimePoint deadline) {
  const int asked_count = request.doc_ids_size();
  neptune::CallOptions call;
  call.deadline = deadline;
  call.hedge_after = shared.HedgeAfter();
  neptune::CallReport report;
  Data data;
  NEPTUNE_RETURN_IF_ERROR(
      neptune::Call(session,
                    {neptune::ServiceName(docserver::kDocumentService), PartitionId(partition),
                     MethodName(docserver::kFetchMethod), AccessMode::kRead},
                    Data::Of(std::move(request)), &data, call, &report));
  // A hedged request took at least this long.
  shared.CountAnswer(report.duration);
  NEPTUNE_ASSIGN_OR_RETURN(const FetchResponse* const response, data.As<FetchResponse>());
  if (response->summaries_size() != asked_count) {
    return neptune::Internal("document partition ", partition, " answered ",
                             response->summaries_size(), " of ", asked_count, " documents");
  }
  return *response;
}

// Shared with the fetching threads, which may outlive the request for the page.
struct DocumentClient::PageFetch {
  std::shared_ptr<Shared> shared;
  ClientSession session;
  DocumentRequest request;
  TimePoint deadline;
  neptune::ThreadRef caller;
  std::map<uint32_t, std::vector<size_t>> groups;  // positions by partition

  FetchedDocuments fetched;
  std::map<uint32_t, Status> outcomes;  // by partition that has finished
  bool closed = false;

  PageFetch(std::shared_ptr<Shared> of, const ClientSession& asking)
      : shared(std::move(of)), session(asking) {}

  FetchRequest RequestFor(const std::vector<size_t>& positions) const {
    FetchRequest wanted;
    for (const size_t position : positions) wanted.add_doc_ids(request.doc_ids[position]);
    wanted.set_query(request.canonical_query);
    wanted.set_index_version(request.index_version);
    wanted.set_snippet_size_max(request.with_snippets ? shared->options.snippet_size_max : 0);
    return wanted;
  }

  void Take(uint32_t partition, FetchResponse response) {
    const std::vector<size_t>& positions = groups.at(partition);
    for (size_t i = 0; i < positions.size(); ++i) {
      fetched.summaries[positions[i]] = std::move(*response.mutable_summaries(static_cast<int>(i)));
    }
    std::string& names = fetched.coverage.implementation;
    names = index::JoinImplementations(names, response.implementation());
  }

  void Settle(uint32_t partition, StatusOr<FetchResponse> response) {
    if (closed) return;
    if (response.ok()) Take(partition, *std::move(response));
    outcomes.emplace(partition, response.status());
    if (outcomes.size() == groups.size()) caller->Wake();
  }
};

void DocumentClient::AskPartition(const std::shared_ptr<PageFetch>& fetch, uint32_t partition) {
  ClientSession session = fetch->session;
  fetch->Settle(partition, Fetch(*fetch->shared, session, partition,
                                 fetch->RequestFor(fetch->groups.at(partition)), fetch->deadline));
}

void DocumentClient::AskAll(const std::shared_ptr<PageFetch>& fetch) {
  const uint32_t last = fetch->groups.rbegin()->first;
  for (const auto& [partition, positions] : fetch->groups) {
    if (partition == last) break;
    const auto asking = neptune::ThreadScheduler::Current()->Spawn(
        [fetch, partition = partition] { AskPartition(fetch, partition); }, "fetch");
    if (!asking.ok()) fetch->Settle(partition, asking.status());
  }
  AskPartition(fetch, last);
  while (fetch->outcomes.size() < fetch->groups.size()) {
    if (neptune::this_thread::Park(fetch->deadline) != neptune::ParkResult::kWoken) break;
  }
  fetch->closed = true;
}

FetchedDocuments DocumentClient::FetchSummaries(ClientSession& session,
                                                const DocumentRequest& request) {
  const SearchPlanOptions& options = shared_->options;
  auto fetch = std::make_shared<PageFetch>(shared_, session);
  fetch->request = request;
  fetch->deadline = DeadlineOf(request, options);
  fetch->caller = neptune::ThreadRef(neptune::UserThread::Current());
  fetch->groups = GroupByPartition(request.doc_ids, options.document_partitions);
  fetch->fetched.summaries.resize(request.doc_ids.size());
  ServiceCoverage& coverage = fetch->fetched.coverage;
  coverage.service = "documents";
  coverage.partitions_asked = static_cast<uint32_t>(fetch->groups.size());
  if (!fetch->groups.empty()) AskAll(fetch);
  for (const auto& [partition, positions] : fetch->groups) {
    const auto outcome = fetch->outcomes.find(partition);
    const Status status =
        outcome == fetch->outcomes.end()
            ? neptune::DeadlineExceeded("document partition did not answer by the deadline")
            : outcome->second;
    if (!status.ok()) coverage.missing.push_back({partition, MissingReason(status)});
  }
  return std::move(fetch->fetched);
}

index::TitlesAnswer DocumentClient::FetchTitles(const ClientSession& session,
                                                const std::vector<uint64_t>& doc_ids,
                                                uint64_t index_version, TimePoint end) const {
  index::TitlesQuery query;
  for (const uint64_t doc_id : doc_ids) {
    if (query.doc_ids_size() == static_cast<int>(index::kTitledDocumentsMax)) break;
    query.add_doc_ids(doc_id);
  }
  query.set_index_version(index_version);
  const TierCall call{.local = index::kTierTitlesMethod,
                      .reduce = index::kTitlesReduceOperator,
                      .parameters = Data::Of(std::move(query)),
                      .deadline = std::min(end, neptune::this_thread::Now() + kTitlesTimeMax)};
  const auto joined = JoinReplies<index::TitlesAnswer>(
      AskBothTiers(session, call, shared_->options), &index::MergeTitlesAnswers);
  return joined.value_or(index::TitlesAnswer());
}

StatusOr<docserver::Summary> DocumentClient::FetchText(ClientSession& session,
                                                       const DocumentRequest& request) {
  const SearchPlanOptions& options = shared_->options;
  const uint64_t doc_id = request.doc_ids[0];
  FetchRequest wanted;
  wanted.add_doc_ids(doc_id);
  wanted.set_with_text(true);
  wanted.set_query(request.canonical_query);
  wanted.set_index_version(request.index_version);
  const uint32_t partition = docserver::PartitionOfDocument(doc_id, options.document_partitions);
  NEPTUNE_ASSIGN_OR_RETURN(
      FetchResponse response,
      Fetch(*shared_, session, partition, std::move(wanted), DeadlineOf(request, options)));
  if (!response.summaries(0).found()) {
    return neptune::NotFound("no document ", doc_id);
  }
  return std::move(*response.mutable_summaries(0));
}

}  // namespace search::frontend
