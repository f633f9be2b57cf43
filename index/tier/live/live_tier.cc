#include "index/tier/live/live_tier.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "index/tier/search_input.h"
#include "index/tier/segment/segment_details.h"
#include "index/tier/segment/segment_messages.h"
#include "index/tier/segment/site_naming.h"
#include "index/updates/document_change.h"
#include "neptune/base/file.h"

namespace search::index {
namespace {

// Collects changes of documents and applies them to the partition as updates of bounded size.
class Updater {
 public:
  explicit Updater(Partition* partition) : partition_(partition) {}

  neptune::Status Add(DocumentChange change) {
    size_ += change.upsert().text().size() + change.upsert().extra_text().size();
    changes_.push_back(std::move(change));
    return size_ < kRefreshSizeMax ? neptune::OkStatus() : Finish();
  }

  neptune::Status Finish() {
    PartitionUpdate update;
    for (const DocumentChange& change : changes_) {
      if (change.has_upsert()) {
        update.documents.push_back(DocumentOf(change));
      } else {
        update.deleted.push_back(change.doc_id());
      }
    }
    NEPTUNE_RETURN_IF_ERROR(partition_->Update(update));
    changes_.clear();
    size_ = 0;
    return neptune::OkStatus();
  }

 private:
  IndexedDocument DocumentOf(const DocumentChange& change) const {
    const DocumentContent& content = change.upsert();
    return {.doc_id = change.doc_id(),
            .title = content.title(),
            .body = content.text(),
            .extra_text = content.extra_text(),
            .site = content.site(),
            .static_rank =
                content.has_static_rank() ? content.static_rank() : PublishedRank(change.doc_id()),
            .url = content.url(),
            .language = content.language(),
            .date = content.date()};
  }

  float PublishedRank(uint64_t doc_id) const {
    const auto ordinal = partition_->base()->FindDocument(doc_id);
    return ordinal.has_value() ? partition_->base()->static_ranks()[*ordinal] : kNewDocumentRank;
  }

  Partition* const partition_;
  std::vector<DocumentChange> changes_;
  size_t size_ = 0;
};

// The snapshot must outlive the result.
std::vector<SearchedSegment> SegmentsOf(const PartitionSnapshot& snapshot) {
  std::vector<SearchedSegment> segments;
  for (const PartitionSnapshot::Part& part : snapshot.parts()) {
    segments.push_back({&part.segment->segment(), &part.segment->searcher(), part.live.get()});
  }
  return segments;
}

// Called before an answer leaves: the files may have changed while it was made. The segments'
// statistics are in memory.
neptune::Status CheckSound(const PartitionSnapshot& snapshot) {
  for (const PartitionSnapshot::Part& part : snapshot.parts()) {
    NEPTUNE_RETURN_IF_ERROR(part.segment->segment().CheckSound());
  }
  return neptune::OkStatus();
}

// Never 0, which means that documents do not change.
uint64_t EpochOf(const LastWriteName& last) {
  return last.lsn == 0 || last.history == 0 ? 1 : last.history;
}

}  // namespace

neptune::StatusOr<std::unique_ptr<LiveTier>> LiveTier::Open(LiveTierOptions options,
                                                            const ChangeReader* state) {
  NEPTUNE_ASSIGN_OR_RETURN(const TierFolder base, ReadTierFolder(options.base_directory));
  if (base.implementation != kSegmentTierName) {
    return neptune::FailedPrecondition("open ", options.base_directory,
                                       " for changes: it was built for '", base.implementation,
                                       "', only '", kSegmentTierName, "' supports changes");
  }
  std::error_code error;
  std::filesystem::remove_all(options.working_directory, error);
  if (error) {
    return neptune::Unavailable("cannot empty ", options.working_directory, ": ", error.message());
  }
  std::unique_ptr<LiveTier> tier(new LiveTier(std::move(options), state));
  tier->index_version_ = base.index_version;
  NEPTUNE_ASSIGN_OR_RETURN(auto suggestions, SuggestionFiles::Open(tier->options_.base_directory));
  {
    neptune::LeafLock lock(&tier->mutex_);
    tier->suggestions_ = std::make_shared<const SuggestionFiles>(std::move(suggestions));
  }
  tier->NoteRestore();
  NEPTUNE_RETURN_IF_ERROR(tier->Refresh().status());
  return tier;
}

neptune::StatusOr<TierAnswer> LiveTier::Search(const TierQuery& tier_query,
                                               const TierSearchControl& control) const {
  NEPTUNE_RETURN_IF_ERROR(ValidateTierQuery(tier_query));
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<const Query> parsed, ReadTierQuery(tier_query));
  const Query& query = *parsed;
  const LastWriteName known = searchable();  // before the snapshot, which may include more
  const std::shared_ptr<const PartitionSnapshot> snapshot = partition()->snapshot();
  NEPTUNE_ASSIGN_OR_RETURN(const SearchResult result,
                           snapshot->Search(query, ToSearchOptions(tier_query, control)));
  TierAnswer answer = ToAnswer(tier_query, result, index_version_);
  std::vector<const Segment*> counted;
  for (const PartitionSnapshot::Part& part : snapshot->parts()) {
    counted.push_back(&part.segment->segment());
  }
  NEPTUNE_RETURN_IF_ERROR(AddWordCounts(counted, query, &answer));
  if (result.total == 0 && result.complete) {
    std::vector<NamedSegment> segments;
    for (const PartitionSnapshot::Part& part : snapshot->parts()) {
      segments.push_back({&part.segment->segment(), part.live.get()});
    }
    NEPTUNE_RETURN_IF_ERROR(
        NameSites(segments, SiteFilters(query), StopFunction(control), &answer));
    std::vector<const Segment*> parts;
    for (const NamedSegment& part : segments) parts.push_back(part.segment);
    NEPTUNE_RETURN_IF_ERROR(NameFields(parts, query, &answer));
  }
  NEPTUNE_RETURN_IF_ERROR(CheckSound(*snapshot));
  answer.set_epoch(EpochOf(known));
  return answer;
}

TierInfo LiveTier::Info() const {
  return {kSegmentTierName, index_version_, partition()->snapshot()->live_count()};
}

neptune::StatusOr<SuggestAnswer> LiveTier::Suggest(const SuggestQuery& query) const {
  return suggestions()->Suggest(query, index_version_);
}

neptune::StatusOr<SpellAnswer> LiveTier::Spell(const SpellQuery& query) const {
  return suggestions()->Spell(query, index_version_);
}

neptune::StatusOr<ExplainAnswer> LiveTier::Explain(const ExplainQuery& query) const {
  const std::shared_ptr<const PartitionSnapshot> snapshot = partition()->snapshot();
  NEPTUNE_ASSIGN_OR_RETURN(ExplainAnswer answer,
                           ExplainDocuments(SegmentsOf(*snapshot), query, index_version_));
  NEPTUNE_RETURN_IF_ERROR(CheckSound(*snapshot));
  return answer;
}

neptune::StatusOr<FacetAnswer> LiveTier::CountSites(const FacetQuery& query,
                                                    const TierSearchControl& control) const {
  const std::shared_ptr<const PartitionSnapshot> snapshot = partition()->snapshot();
  NEPTUNE_ASSIGN_OR_RETURN(
      FacetAnswer answer, index::CountSites(SegmentsOf(*snapshot), query, control, index_version_));
  NEPTUNE_RETURN_IF_ERROR(CheckSound(*snapshot));
  return answer;
}

void LiveTier::NoteChange(const PartitionChange& change) {
  neptune::LeafLock lock(&mutex_);
  noted_.any = true;
  for (const DocumentChange& document : change.documents()) {
    noted_.doc_ids.insert(document.doc_id());
  }
  noted_.statistics = noted_.statistics || change.has_statistics();
}

void LiveTier::NoteRestore() {
  neptune::LeafLock lock(&mutex_);
  noted_ = {.any = true, .all = true, .statistics = true, .doc_ids = {}};
}

neptune::StatusOr<bool> LiveTier::Refresh() {
  neptune::LeafLock refresh(&refresh_mutex_);
  Noted noted;
  {
    neptune::LeafLock lock(&mutex_);
    std::swap(noted, noted_);
  }
  if (!noted.any) return false;
  // The state read below may be newer; its changes are then applied once more.
  auto last = LastWrite(*state_);
  if (last.ok()) {
    if (neptune::Status taken = Take(noted); !taken.ok()) last = std::move(taken);
  }
  neptune::LeafLock lock(&mutex_);
  if (last.ok()) {
    searchable_ = *last;
    return true;
  }
  // Retry later, together with the changes noted meanwhile.
  noted_.doc_ids.insert(noted.doc_ids.begin(), noted.doc_ids.end());
  noted_.any = true;
  noted_.all = noted_.all || noted.all;
  noted_.statistics = noted_.statistics || noted.statistics;
  return last.status();
}

neptune::Status LiveTier::Rebuild() {
  neptune::LeafLock refresh(&refresh_mutex_);
  auto suggestions = SuggestionFiles::Open(options_.base_directory);
  NEPTUNE_RETURN_IF_ERROR(suggestions.status());
  NEPTUNE_RETURN_IF_ERROR(AdoptAll());
  neptune::LeafLock lock(&mutex_);
  suggestions_ = std::make_shared<const SuggestionFiles>(*std::move(suggestions));
  return neptune::OkStatus();
}

neptune::Status LiveTier::Take(const Noted& noted) {
  if (noted.all) return AdoptAll();
  const std::shared_ptr<Partition> current = partition();
  Updater updater(current.get());
  for (const uint64_t doc_id : noted.doc_ids) {
    NEPTUNE_ASSIGN_OR_RETURN(auto change, ReadChange(*state_, doc_id));
    if (!change.has_value() && doc_id >= kFirstHashedDocId) {
      // It was removed, and the state has already forgotten the removal.
      change.emplace();
      change->set_doc_id(doc_id);
      change->mutable_removal();
    }
    if (change.has_value()) NEPTUNE_RETURN_IF_ERROR(updater.Add(*std::move(change)));
  }
  NEPTUNE_RETURN_IF_ERROR(updater.Finish());
  return noted.statistics ? UseStatistics(current.get()) : neptune::OkStatus();
}

neptune::Status LiveTier::AdoptAll() {
  std::string folder = neptune::StrCat(options_.working_directory, "/", ++folder_number_);
  const neptune::Status adopted = AdoptFrom(folder);
  if (adopted.ok()) folder_.swap(folder);
  std::error_code ignored;  // files that remain are removed when the tier is opened again
  if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  return adopted;
}

// Builds a partition of its own, so that searches continue in the previous one.
neptune::Status LiveTier::AdoptFrom(const std::string& folder) {
  NEPTUNE_ASSIGN_OR_RETURN(std::shared_ptr<Partition> partition,
                           Partition::Open({.directory = folder,
                                            .merging = options_.merging,
                                            .durability = Durability::kUnsynced,
                                            .base_directory = options_.base_directory}));
  Updater updater(partition.get());
  NEPTUNE_RETURN_IF_ERROR(
      VisitChanges(*state_, [&](const DocumentChange& change) { return updater.Add(change); }));
  NEPTUNE_RETURN_IF_ERROR(updater.Finish());
  statistics_version_ = 0;
  {
    neptune::LeafLock lock(&mutex_);
    statistics_ = {};
  }
  NEPTUNE_RETURN_IF_ERROR(UseStatistics(partition.get()));
  neptune::LeafLock lock(&mutex_);
  std::swap(partition, partition_);
  return neptune::OkStatus();
}

// Skips statistics of another index and damaged ones: the current ones stay in use until newer ones
// arrive.
neptune::Status LiveTier::UseStatistics(Partition* partition) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece newest, StatisticsInUse(*state_));
  if (newest.version() == statistics_version_) return neptune::OkStatus();
  statistics_version_ = newest.version();
  if (newest.index_version() != index_version_) return neptune::OkStatus();
  auto used = UseStatisticsOfState(partition);
  if (used.status().code() == neptune::StatusCode::kDataLoss) return neptune::OkStatus();
  if (!used.ok()) statistics_version_ = 0;  // retry at the next refresh
  NEPTUNE_RETURN_IF_ERROR(used.status());
  neptune::LeafLock lock(&mutex_);
  statistics_ = *used;
  return neptune::OkStatus();
}

neptune::StatusOr<LiveTier::StatisticsUsed> LiveTier::UseStatisticsOfState(Partition* partition) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece whole, ReadStatistics(*state_));
  const std::string path = options_.working_directory + "/statistics";
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(path, whole.data()));
  NEPTUNE_RETURN_IF_ERROR(partition->UseTerms(path));
  return StatisticsUsed{whole.version(), whole.change_count()};
}

neptune::StatusOr<MergeProgress> LiveTier::MergeSome(uint64_t posting_count_max) {
  return partition()->MergeSome(posting_count_max);
}

LastWriteName LiveTier::searchable() const {
  neptune::LeafLock lock(&mutex_);
  return searchable_;
}

bool LiveTier::Holds(uint64_t doc_id) const { return partition()->snapshot()->Holds(doc_id); }

uint64_t LiveTier::segment_count() const { return partition()->snapshot()->parts().size(); }

LiveTier::StatisticsUsed LiveTier::statistics() const {
  neptune::LeafLock lock(&mutex_);
  return statistics_;
}

neptune::StatusOr<ChangedTerms> LiveTier::CountChangedTerms() const {
  return partition()->CountChangedTerms(options_.working_directory + "/living_terms");
}

neptune::StatusOr<uint32_t> LiveTier::PublishedFrequency(std::string_view key) const {
  return partition()->PublishedFrequency(key);
}

std::shared_ptr<Partition> LiveTier::partition() const {
  neptune::LeafLock lock(&mutex_);
  return partition_;
}

std::shared_ptr<const SuggestionFiles> LiveTier::suggestions() const {
  neptune::LeafLock lock(&mutex_);
  return suggestions_;
}

}  // namespace search::index
