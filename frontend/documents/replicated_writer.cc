#include "frontend/documents/replicated_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "docserver/docserver.pb.h"
#include "docserver/document_service.h"
#include "index/tier/tier_service.h"
#include "index/updates/change_write.h"
#include "index/updates/document_change.h"
#include "neptune/base/strings.h"
#include "neptune/replication/client/replica_session.h"

namespace search::frontend {

using neptune::AccessMode;
using neptune::Data;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::ServiceName;
using neptune::Status;
using neptune::StatusOr;

namespace {

// Keeps only the last edit of each document, without those that are refused.
std::vector<PlacedEdit> LastOfEach(const std::vector<DocumentEdit>& edits,
                                   const std::set<const DocumentEdit*>& refused) {
  std::map<uint64_t, const DocumentEdit*> last;
  for (const DocumentEdit& edit : edits) {
    if (!refused.contains(&edit)) last[edit.doc_id] = &edit;
  }
  std::vector<PlacedEdit> placed;
  for (const DocumentEdit& edit : edits) {
    const auto found = last.find(edit.doc_id);
    if (found != last.end() && found->second == &edit) placed.push_back({.edit = &edit});
  }
  return placed;
}

std::vector<DocumentWriter::Written> AllFailed(const std::vector<DocumentEdit>& edits,
                                               const Status& status) {
  std::vector<DocumentWriter::Written> written;
  for (const DocumentEdit& edit : edits) written.push_back({status, edit.doc_id});
  return written;
}

// Hashes of urls have no secret, so that two urls with one number can be made: neither may replace
// the document of the other.
Status NumberIsTaken(const DocumentEdit& edit) {
  return absl::AlreadyExistsError(neptune::StrCat(
      "document ", edit.doc_id, ", whose number the url would get, has another url; give an id"));
}

// What a partition knows of an edit's url.
struct UrlFinding {
  std::optional<uint64_t> doc_id;
  bool number_is_taken = false;
};

// Asks a partition of the document servers for the numbers of the documents with the edits' urls.
StatusOr<std::vector<UrlFinding>> AskForUrls(neptune::ClientSession& session, uint32_t partition,
                                             const std::vector<DocumentEdit*>& edits,
                                             neptune::TimePoint deadline) {
  std::vector<UrlFinding> found(edits.size());
  docserver::FindUrlsRequest request;
  for (const DocumentEdit* edit : edits) request.add_urls(*edit->url);
  Data response;
  const Status status =
      neptune::Call(session,
                    {ServiceName(docserver::kDocumentService), PartitionId(partition),
                     MethodName(docserver::kFindUrlsMethod), AccessMode::kRead},
                    Data::Of(std::move(request)), &response, {.deadline = deadline});
  // The store was written by an older build and has no table of urls.
  if (status.code() == neptune::StatusCode::kUnimplemented) return found;
  NEPTUNE_RETURN_IF_ERROR(status);
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const answer, response.As<docserver::FindUrlsResponse>());
  if (answer->documents_size() != static_cast<int>(edits.size())) {
    return neptune::Internal("numbers of ", answer->documents_size(), " urls, asked for ",
                             edits.size());
  }
  for (size_t i = 0; i < edits.size(); ++i) {
    const auto& document = answer->documents(static_cast<int>(i));
    if (document.found()) found[i].doc_id = document.doc_id();
    found[i].number_is_taken = document.number_is_taken();
  }
  return found;
}

StatusOr<index::ChangeAnswer> WriteChange(neptune::ReplicaSession& session,
                                          const RoutedChange& routed, neptune::TimePoint deadline) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(session.Call({ServiceName(routed.service), PartitionId(routed.partition),
                                        MethodName(index::kChangeMethod), AccessMode::kWrite},
                                       Data(routed.change.SerializeAsString()), &response,
                                       {.deadline = deadline}));
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const answer, response.As<index::ChangeAnswer>());
  return *answer;
}

}  // namespace

uint64_t ReplicatedWriter::AllocateVersions(size_t count) {
  const uint64_t by_clock = index::VersionAt(world_.wall_time());
  uint64_t last = last_version_.load();
  while (!last_version_.compare_exchange_weak(last, std::max(by_clock, last + 1) + count - 1)) {
  }
  return std::max(by_clock, last + 1);
}

StatusOr<uint64_t> ReplicatedWriter::VersionsOf(const Order& order) {
  const uint64_t version = AllocateVersions(std::max<size_t>(1, order.edits.size()));
  if (!order.name.has_value()) return version;
  RoutedChange claim{.service = docserver::kDocumentService};
  claim.partition =
      static_cast<uint32_t>(index::HashOfUrl(order.name->key) % options_.partitions.documents);
  index::RequestKey& key = *claim.change.mutable_request_key();
  key.set_key(order.name->key);
  key.set_contents(order.name->contents);
  key.set_version(version);
  neptune::ReplicaSession session((neptune::ClientSession(client_)));
  NEPTUNE_ASSIGN_OR_RETURN(const auto answer, WriteChange(session, claim, order.deadline));
  if (answer.request_key().contents() != order.name->contents) {
    return neptune::FailedPrecondition("the Idempotency-Key was used for another request");
  }
  return answer.request_key().version();
}

StatusOr<std::set<const DocumentEdit*>> ReplicatedWriter::FindUrls(
    std::vector<DocumentEdit>* edits, neptune::TimePoint deadline) const {
  std::set<const DocumentEdit*> taken;
  std::vector<DocumentEdit*> unknown;
  for (DocumentEdit& edit : *edits) {
    if (edit.url.has_value()) unknown.push_back(&edit);
  }
  neptune::ClientSession session(client_);
  for (uint32_t p = 0; p < options_.partitions.documents && !unknown.empty(); ++p) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto found, AskForUrls(session, p, unknown, deadline));
    std::vector<DocumentEdit*> still_unknown;
    for (size_t i = 0; i < unknown.size(); ++i) {
      if (found[i].doc_id.has_value()) {
        unknown[i]->doc_id = *found[i].doc_id;
        taken.erase(unknown[i]);
      } else {
        still_unknown.push_back(unknown[i]);
        if (found[i].number_is_taken) taken.insert(unknown[i]);
      }
    }
    unknown = std::move(still_unknown);
  }
  return taken;
}

StatusOr<std::set<uint64_t>> ReplicatedWriter::InTier2(const std::vector<PlacedEdit>& edits,
                                                       neptune::TimePoint deadline) const {
  std::set<uint64_t> held;
  if (options_.partitions.tier2 == 0) return held;
  std::map<uint32_t, index::HoldsQuery> queries;
  for (const PlacedEdit& placed : edits) {
    const auto& content = placed.edit->content;
    if (!content.has_value() || content->has_static_rank()) continue;
    const uint64_t doc_id = placed.edit->doc_id;
    queries[static_cast<uint32_t>(doc_id % options_.partitions.tier2)].add_doc_ids(doc_id);
  }
  neptune::ClientSession session(client_);
  for (auto& [partition, query] : queries) {
    Data response;
    NEPTUNE_RETURN_IF_ERROR(
        neptune::Call(session,
                      {ServiceName(index::kTier2Service), PartitionId(partition),
                       MethodName(index::kHoldsMethod), AccessMode::kRead},
                      Data::Of(std::move(query)), &response, {.deadline = deadline}));
    NEPTUNE_ASSIGN_OR_RETURN(const auto* const answer, response.As<index::HoldsAnswer>());
    held.insert(answer->held_doc_ids().begin(), answer->held_doc_ids().end());
  }
  return held;
}

std::vector<DocumentWriter::Written> ReplicatedWriter::Write(const Order& order) {
  std::vector<DocumentEdit> edits = order.edits;
  const neptune::TimePoint deadline = order.deadline;
  auto version = VersionsOf(order);
  if (!version.ok()) return AllFailed(edits, version.status());
  const auto taken = FindUrls(&edits, deadline);
  if (!taken.ok()) return AllFailed(edits, taken.status());
  std::vector<PlacedEdit> placed = LastOfEach(edits, *taken);
  const auto in_tier2 = InTier2(placed, deadline);
  if (!in_tier2.ok()) return AllFailed(edits, in_tier2.status());
  for (PlacedEdit& edit : placed) {
    edit.version = *version + static_cast<uint64_t>(edit.edit - edits.data());
    edit.in_tier1 = BelongsToTier1(*edit.edit, in_tier2->count(edit.edit->doc_id) > 0,
                                   static_cast<float>(options_.tier1_rank_min));
  }
  neptune::ReplicaSession session((neptune::ClientSession(client_)));
  std::map<uint64_t, Status> failures;
  for (const RoutedChange& routed : RouteEdits(placed, options_.partitions)) {
    const auto answer = WriteChange(session, routed, deadline);
    if (answer.ok()) {
      for (const uint64_t late : answer->late_doc_ids()) {
        failures.emplace(late, neptune::Unavailable(routed.service,
                                                    " no longer knows the outcome of the change of "
                                                    "document ",
                                                    late, "; send it again"));
      }
      continue;
    }
    for (const index::DocumentChange& change : routed.change.documents()) {
      failures.emplace(change.doc_id(), answer.status());
    }
  }
  std::vector<Written> written;
  for (const DocumentEdit& edit : edits) {
    if (taken->contains(&edit)) {
      written.push_back({NumberIsTaken(edit), edit.doc_id});
      continue;
    }
    const auto failed = failures.find(edit.doc_id);
    written.push_back(
        {failed == failures.end() ? neptune::OkStatus() : failed->second, edit.doc_id});
  }
  return written;
}

}  // namespace search::frontend
