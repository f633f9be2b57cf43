#include "index/core/partition/partition.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "index/core/builder/index_builder.h"
#include "index/core/builder/segment_merger.h"
#include "index/core/partition/collection_terms.h"
#include "index/core/partition/published_counts.h"
#include "index/core/partition/renewed_counts.h"
#include "neptune/base/file.h"

namespace search::index {
namespace {

constexpr size_t kTermsSizeMax = size_t{1} << 32;

std::string TermsPath(const std::string& directory, uint64_t version) {
  return neptune::StrCat(directory, "/terms.", version);
}

std::string LivePath(const std::string& segment_directory, uint64_t generation) {
  return neptune::StrCat(segment_directory, "/", LiveDocuments::FileName(generation));
}

void RemoveAll(const std::filesystem::path& path) {
  std::error_code ignored;  // the next Open removes what is left
  std::filesystem::remove_all(path, ignored);
}

// Removes all entries of the directory except those to keep.
void RemoveOthers(const std::string& directory, const std::vector<std::string>& kept) {
  std::error_code ignored;
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::find(kept.begin(), kept.end(), name) == kept.end()) others.push_back(entry.path());
  }
  for (const auto& path : others) RemoveAll(path);
}

uint64_t NumberOf(const PartitionSnapshot::Part& part) { return part.segment->folder()->number(); }

uint32_t LiveCount(const PartitionSnapshot::Part& part) {
  return part.live == nullptr ? part.segment->segment().document_count() : part.live->live_count();
}

bool IsLive(const LiveDocuments* live, uint32_t ordinal) {
  return live == nullptr || live->IsLive(ordinal);
}

const PartitionSnapshot::Part* Find(const std::vector<PartitionSnapshot::Part>& parts,
                                    uint64_t number) {
  for (const auto& part : parts) {
    if (NumberOf(part) == number) return &part;
  }
  return nullptr;
}

// A copy of the part without these documents.
PartitionSnapshot::Part Without(const PartitionSnapshot::Part& part,
                                const std::vector<uint64_t>& doc_ids) {
  const Segment& segment = part.segment->segment();
  std::shared_ptr<LiveDocuments> changed;
  for (const uint64_t doc_id : doc_ids) {
    const auto ordinal = segment.FindDocument(doc_id);
    if (!ordinal.has_value() || !IsLive(part.live.get(), *ordinal)) continue;
    if (changed == nullptr) {
      changed = part.live == nullptr ? std::make_shared<LiveDocuments>(segment.document_count())
                                     : std::make_shared<LiveDocuments>(*part.live);
    }
    changed->Delete(*ordinal);
  }
  if (changed == nullptr) return part;
  return {part.segment, std::move(changed)};
}

// Adds the documents that are live in `before` but not in `now`, which is null if the part was
// dropped.
void AddDeleted(const PartitionSnapshot::Part& before, const PartitionSnapshot::Part* now,
                std::vector<uint64_t>* deleted) {
  const Segment& segment = before.segment->segment();
  for (uint32_t ordinal = 0; ordinal < segment.document_count(); ++ordinal) {
    if (!IsLive(before.live.get(), ordinal)) continue;
    if (now != nullptr && IsLive(now->live.get(), ordinal)) continue;
    deleted->push_back(segment.doc_ids()[ordinal]);
  }
}

// The last document of each doc_id, ascending.
std::vector<IndexedDocument> InOrder(std::vector<IndexedDocument> documents) {
  std::reverse(documents.begin(), documents.end());
  std::stable_sort(
      documents.begin(), documents.end(),
      [](const IndexedDocument& a, const IndexedDocument& b) { return a.doc_id < b.doc_id; });
  const auto end = std::unique(
      documents.begin(), documents.end(),
      [](const IndexedDocument& a, const IndexedDocument& b) { return a.doc_id == b.doc_id; });
  documents.erase(end, documents.end());
  return documents;
}

}  // namespace

neptune::StatusOr<SearchResult> PartitionSnapshot::Search(const Query& query,
                                                          const SearchOptions& options) const {
  SearchResult merged;
  merged.total_is_exact = true;  // exact if there are no parts
  for (size_t i = 0; i < parts_.size(); ++i) {
    SearchOptions own = options;
    own.live_documents = parts_[i].live.get();
    NEPTUNE_ASSIGN_OR_RETURN(SearchResult result, parts_[i].segment->searcher().Search(query, own));
    merged = i == 0 ? std::move(result) : MergeResults(merged, result, options.k);
  }
  return merged;
}

bool PartitionSnapshot::Holds(uint64_t doc_id) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const auto ordinal = part.segment->segment().FindDocument(doc_id);
    return ordinal.has_value() && IsLive(part.live.get(), *ordinal);
  });
}

uint64_t PartitionSnapshot::live_count() const {
  uint64_t count = 0;
  for (const Part& part : parts_) count += LiveCount(part);
  return count;
}

Partition::~Partition() = default;

neptune::StatusOr<std::unique_ptr<Partition>> Partition::Open(PartitionOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) {
    return neptune::Unavailable("cannot create directory ", options.directory, ": ",
                                error.message());
  }
  if (options.merging.merge_count < 2 || options.merging.documents_min < 1) {
    return neptune::InvalidArgument("partition: invalid merge policy");
  }
  if (!options.base_directory.empty() && options.durability != Durability::kUnsynced) {
    return neptune::InvalidArgument("partition: base_directory requires Durability::kUnsynced");
  }
  std::unique_ptr<Partition> partition(new Partition(std::move(options)));
  NEPTUNE_RETURN_IF_ERROR(partition->Load());
  return partition;
}

neptune::Status Partition::Load() {
  neptune::LeafLock change(&change_mutex_);
  if (options_.durability == Durability::kSynced) return LoadManifest();
  RemoveOthers(options_.directory, {});
  return LoadBase();
}

neptune::Status Partition::LoadManifest() {
  const std::string& directory = options_.directory;
  auto manifest = ReadManifest(neptune::StrCat(directory, "/", kManifestFileName));
  if (manifest.status().code() == neptune::StatusCode::kNotFound) {
    manifest = Manifest();
    NEPTUNE_RETURN_IF_ERROR(WriteManifest(*manifest, directory));
  }
  NEPTUNE_RETURN_IF_ERROR(manifest.status());
  manifest_ = std::move(*manifest);
  next_number_ = manifest_.next_number;
  std::vector<std::string> kept = {std::string(kManifestFileName)};
  if (manifest_.terms_version > 0) {
    const std::string path = TermsPath(directory, manifest_.terms_version);
    NEPTUNE_ASSIGN_OR_RETURN(counts_, CollectionTerms::Open(path));
    kept.push_back(std::filesystem::path(path).filename().string());
  }
  Parts parts;
  for (const ManifestSegment& entry : manifest_.segments) {
    NEPTUNE_ASSIGN_OR_RETURN(parts.emplace_back(), LoadPart(entry));
    kept.push_back(
        std::filesystem::path(parts.back().segment->folder()->directory()).filename().string());
  }
  RemoveOthers(directory, kept);
  neptune::LeafLock lock(&snapshot_mutex_);
  snapshot_ = std::make_shared<PartitionSnapshot>(manifest_.epoch, std::move(parts));
  return neptune::OkStatus();
}

neptune::Status Partition::LoadBase() {
  Parts parts;
  if (!options_.base_directory.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(base_, SegmentFolder::Borrow(options_.base_directory));
    NEPTUNE_ASSIGN_OR_RETURN(const auto published, PublishedCounts::Open(base_));
    options_.ranking = published->ranking();
    counts_ = published_ = published;
    Part& part = parts.emplace_back();
    NEPTUNE_ASSIGN_OR_RETURN(part.segment,
                             SearchableSegment::Create(base_, counts_.get(), options_.ranking));
  }
  neptune::LeafLock lock(&snapshot_mutex_);
  snapshot_ = std::make_shared<PartitionSnapshot>(manifest_.epoch, std::move(parts));
  return neptune::OkStatus();
}

neptune::StatusOr<Partition::Part> Partition::LoadPart(const ManifestSegment& entry) {
  const std::string directory = SegmentFolder::PathOf(options_.directory, entry.number);
  NEPTUNE_ASSIGN_OR_RETURN(auto folder, SegmentFolder::Open(directory, entry.number));
  const Segment& segment = folder->segment();
  if (segment.fingerprint() != entry.fingerprint) {
    return neptune::DataLoss(directory, ": the segment differs from the one in the manifest");
  }
  std::vector<std::string> kept = {std::string(kSegmentFileName)};
  Part part;
  if (entry.live_generation > 0) {
    NEPTUNE_ASSIGN_OR_RETURN(auto live,
                             LiveDocuments::Read(LivePath(directory, entry.live_generation),
                                                 segment.fingerprint(), segment.document_count()));
    part.live = std::make_shared<LiveDocuments>(std::move(live));
    kept.push_back(LiveDocuments::FileName(entry.live_generation));
  }
  RemoveOthers(directory, kept);
  NEPTUNE_ASSIGN_OR_RETURN(
      part.segment, SearchableSegment::Create(std::move(folder), counts_.get(), options_.ranking));
  return part;
}

std::shared_ptr<const PartitionSnapshot> Partition::snapshot() const {
  neptune::LeafLock lock(&snapshot_mutex_);
  return snapshot_;
}

uint64_t Partition::NextNumber() {
  neptune::LeafLock change(&change_mutex_);
  return next_number_++;
}

neptune::Status Partition::Update(const PartitionUpdate& update) {
  if (update.documents.empty() && update.deleted.empty()) return neptune::OkStatus();
  uint64_t number = 0;
  if (!update.documents.empty()) {
    number = NextNumber();
    const std::string directory = SegmentFolder::PathOf(options_.directory, number);
    const neptune::Status built = BuildSegment(InOrder(update.documents), directory);
    if (!built.ok()) {
      RemoveAll(directory);
      return built;
    }
  }
  return Add(number, update.deleted);
}

neptune::Status Partition::BuildSegment(const std::vector<IndexedDocument>& documents,
                                        const std::string& directory) const {
  NEPTUNE_ASSIGN_OR_RETURN(auto builder,
                           IndexBuilder::Create({.directory = directory,
                                                 .memory_size_max = options_.memory_size_max,
                                                 .durability = options_.durability}));
  for (const IndexedDocument& document : documents) {
    NEPTUNE_RETURN_IF_ERROR(builder->Add(document));
  }
  return builder->Finish().status();
}

neptune::Status Partition::AddSegment(const std::string& built_directory) {
  const uint64_t number = NextNumber();
  const std::string directory = SegmentFolder::PathOf(options_.directory, number);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const auto from = std::filesystem::path(built_directory) / kSegmentFileName;
  if (!error)
    std::filesystem::rename(from, directory / std::filesystem::path(kSegmentFileName), error);
  if (error) {
    RemoveAll(directory);
    return neptune::Unavailable("cannot move ", from.string(), " to ", directory, ": ",
                                error.message());
  }
  return Add(number, {});
}

neptune::Status Partition::Add(uint64_t number, const std::vector<uint64_t>& deleted) {
  neptune::LeafLock change(&change_mutex_);
  std::vector<uint64_t> replaced = deleted;
  std::optional<Part> added;
  if (number > 0) {
    const std::string directory = SegmentFolder::PathOf(options_.directory, number);
    auto folder = SegmentFolder::Open(directory, number);
    if (!folder.ok()) {
      RemoveAll(directory);
      return folder.status();
    }
    (*folder)->SetObsolete(true);  // until it is committed
    const auto doc_ids = (*folder)->segment().doc_ids();
    replaced.insert(replaced.end(), doc_ids.begin(), doc_ids.end());
    added.emplace();
    NEPTUNE_ASSIGN_OR_RETURN(added->segment,
                             SearchableSegment::Create(*folder, counts_.get(), options_.ranking));
  }
  Parts parts;
  for (const Part& part : snapshot()->parts()) parts.push_back(Without(part, replaced));
  if (added.has_value()) parts.push_back(std::move(*added));
  return Commit(std::move(parts), manifest_.terms_version);
}

neptune::Status Partition::Commit(Parts parts, uint64_t terms_version) {
  if (!failure_.ok()) {
    return neptune::FailedPrecondition(options_.directory,
                                       ": must be opened again after: ", failure_.message());
  }
  std::erase_if(parts, [](const Part& part) { return LiveCount(part) == 0; });
  Manifest manifest;
  manifest.epoch = manifest_.epoch + 1;
  manifest.next_number = next_number_;
  manifest.terms_version = terms_version;
  if (options_.durability == Durability::kSynced) {
    NEPTUNE_RETURN_IF_ERROR(WriteManifestOf(parts, &manifest));
  }
  for (const Part& part : parts) part.segment->folder()->SetObsolete(false);
  const auto old = snapshot();
  for (const Part& part : old->parts()) {
    if (Find(parts, NumberOf(part)) == nullptr) part.segment->folder()->SetObsolete(true);
  }
  for (const ManifestSegment& entry : manifest_.segments) {
    const auto is_same = [&](const ManifestSegment& other) { return other == entry; };
    if (entry.live_generation == 0 ||
        std::any_of(manifest.segments.begin(), manifest.segments.end(), is_same)) {
      continue;
    }
    RemoveAll(
        LivePath(SegmentFolder::PathOf(options_.directory, entry.number), entry.live_generation));
  }
  manifest_ = std::move(manifest);
  neptune::LeafLock lock(&snapshot_mutex_);
  snapshot_ = std::make_shared<PartitionSnapshot>(manifest_.epoch, std::move(parts));
  return neptune::OkStatus();
}

// Commits to disk.
neptune::Status Partition::WriteManifestOf(const Parts& parts, Manifest* manifest) {
  NEPTUNE_RETURN_IF_ERROR(WriteLiveDocuments(parts, manifest));
  for (const Part& part : parts) part.segment->folder()->SetObsolete(false);
  failure_ = WriteManifest(*manifest, options_.directory);
  return failure_;
}

// Writes a new generation for each part that has newly deleted documents, and lists all parts.
neptune::Status Partition::WriteLiveDocuments(const Parts& parts, Manifest* manifest) {
  const auto old = snapshot();
  for (const Part& part : parts) {
    const SegmentFolder& folder = *part.segment->folder();
    ManifestSegment entry = {.number = folder.number(),
                             .fingerprint = folder.segment().fingerprint()};
    for (const ManifestSegment& before : manifest_.segments) {
      if (before.number == entry.number) entry.live_generation = before.live_generation;
    }
    const Part* before = Find(old->parts(), entry.number);
    const bool is_changed = part.live != (before == nullptr ? nullptr : before->live);
    if (is_changed) {
      ++entry.live_generation;
      NEPTUNE_RETURN_IF_ERROR(
          part.live->Write(LivePath(folder.directory(), entry.live_generation), entry.fingerprint));
    }
    if (is_changed || before == nullptr) {
      NEPTUNE_RETURN_IF_ERROR(neptune::SyncDirectory(folder.directory()));
    }
    manifest->segments.push_back(entry);
  }
  return neptune::OkStatus();
}

neptune::StatusOr<bool> Partition::Merge() {
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const MergeProgress progress, MergeSome(UINT64_MAX));
    if (progress != MergeProgress::kUnderWay) return progress == MergeProgress::kMerged;
  }
}

neptune::StatusOr<MergeProgress> Partition::MergeSome(uint64_t posting_count_max) {
  neptune::LeafLock merge(&merge_mutex_);
  if (pending_merge_ == nullptr) {
    NEPTUNE_RETURN_IF_ERROR(BeginMerge());
    return pending_merge_ == nullptr ? MergeProgress::kNothingToDo : MergeProgress::kUnderWay;
  }
  auto progress = ContinueMerge(posting_count_max);
  if (!progress.ok()) {
    RemoveAll(SegmentFolder::PathOf(options_.directory, pending_merge_->number));
  }
  if (!progress.ok() || *progress == MergeProgress::kMerged) pending_merge_.reset();
  return progress;
}

neptune::Status Partition::BeginMerge() {
  const auto start = snapshot();
  std::vector<SegmentShape> shapes;
  for (const Part& part : start->parts()) {
    shapes.push_back({part.segment->segment().document_count(), LiveCount(part)});
  }
  const std::vector<size_t> chosen = ChooseMerge(shapes, options_.merging);
  if (chosen.empty()) return neptune::OkStatus();
  auto pending = std::make_unique<PendingMerge>();
  std::vector<MergeInput> merged;
  for (const size_t i : chosen) {
    const Part& input = pending->inputs.emplace_back(start->parts()[i]);
    merged.push_back({&input.segment->segment(), input.live.get()});
  }
  pending->number = NextNumber();
  NEPTUNE_ASSIGN_OR_RETURN(
      pending->rewrite,
      index::BeginMerge(merged, SegmentFolder::PathOf(options_.directory, pending->number),
                        options_.durability));
  pending_merge_ = std::move(pending);
  return neptune::OkStatus();
}

neptune::StatusOr<MergeProgress> Partition::ContinueMerge(uint64_t posting_count_max) {
  PendingMerge& pending = *pending_merge_;
  if (!pending.is_written) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, pending.rewrite->Step(posting_count_max));
    pending.is_written = !more;
    return MergeProgress::kUnderWay;
  }
  NEPTUNE_RETURN_IF_ERROR(pending.rewrite->Finish().status());
  NEPTUNE_RETURN_IF_ERROR(FinishMerge(pending.inputs, pending.number));
  return MergeProgress::kMerged;
}

neptune::Status Partition::FinishMerge(const Parts& inputs, uint64_t number) {
  std::shared_ptr<const CollectionCounts> counts;
  {
    neptune::LeafLock change(&change_mutex_);
    counts = counts_;  // changes only under merge_mutex_
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      auto folder, SegmentFolder::Open(SegmentFolder::PathOf(options_.directory, number), number));
  folder->SetObsolete(true);  // until it is committed
  Part result;
  NEPTUNE_ASSIGN_OR_RETURN(
      result.segment, SearchableSegment::Create(std::move(folder), counts.get(), options_.ranking));
  neptune::LeafLock change(&change_mutex_);
  const auto now = snapshot();
  std::vector<uint64_t> deleted;
  for (const Part& input : inputs) AddDeleted(input, Find(now->parts(), NumberOf(input)), &deleted);
  Parts parts;
  bool is_placed = false;
  for (const Part& part : now->parts()) {
    if (Find(inputs, NumberOf(part)) == nullptr) {
      parts.push_back(part);
    } else if (!is_placed) {
      parts.push_back(Without(result, deleted));
      is_placed = true;
    }
  }
  return Commit(std::move(parts), manifest_.terms_version);
}

neptune::Status Partition::UseTerms(const std::string& path) {
  neptune::LeafLock merge(&merge_mutex_);
  neptune::LeafLock change(&change_mutex_);
  const uint64_t version = manifest_.terms_version + 1;
  const std::string own_path = TermsPath(options_.directory, version);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, neptune::ReadFile(path, kTermsSizeMax));
  NEPTUNE_RETURN_IF_ERROR(neptune::WriteFileAtomically(own_path, bytes));
  NEPTUNE_ASSIGN_OR_RETURN(auto terms, CollectionTerms::Open(own_path));
  std::shared_ptr<const CollectionCounts> counts = terms;
  if (published_ != nullptr) counts = std::make_shared<RenewedCounts>(std::move(terms), published_);
  Parts parts;
  for (const Part& part : snapshot()->parts()) {
    NEPTUNE_ASSIGN_OR_RETURN(
        auto segment,
        SearchableSegment::Create(part.segment->folder(), counts.get(), options_.ranking));
    parts.push_back({std::move(segment), part.live});
  }
  NEPTUNE_RETURN_IF_ERROR(Commit(std::move(parts), version));
  counts_ = std::move(counts);
  if (version > 1) RemoveAll(TermsPath(options_.directory, version - 1));
  return neptune::OkStatus();
}

neptune::Status Partition::CountTerms(const std::string& path) const {
  const auto now = snapshot();
  std::vector<CountedSegment> segments;
  for (const Part& part : now->parts()) {
    segments.push_back({&part.segment->segment(), part.live.get()});
  }
  return index::CountTerms(segments, path);
}

neptune::StatusOr<ChangedTerms> Partition::CountChangedTerms(
    const std::string& scratch_path) const {
  NEPTUNE_RETURN_IF_ERROR(CountTerms(scratch_path));
  auto living = CollectionTerms::Open(scratch_path);
  RemoveAll(scratch_path);  // mapped files stay readable
  NEPTUNE_RETURN_IF_ERROR(living.status());
  return FindChangedTerms(**living, base_->segment(), *published_);
}

neptune::StatusOr<uint32_t> Partition::PublishedFrequency(std::string_view key) const {
  return published_->DocumentFrequency(key);
}

}  // namespace search::index
