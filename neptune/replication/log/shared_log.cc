#include "neptune/replication/log/shared_log.h"

#include <algorithm>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"

namespace neptune {
namespace {

constexpr uint32_t kNoPartition = UINT32_MAX;
// Entries of this many bytes are copied with a commit, or as many as it has itself.
constexpr size_t kCopySizeMin = 64u << 10;
// Segments that may exist beside twice those that are needed.
constexpr size_t kSpareSegmentCount = 4;
// Bytes between two entries that are read together rather than apart.
constexpr uint32_t kReadGapMax = 4096;

// The beginning of some places of one segment that are read together.
struct ReadRun {
  std::shared_ptr<LogFile> file;
  LogPlace whole;
  std::vector<LogPlace> parts;

  bool Takes(const LogPlace& place) const {
    const uint32_t end = whole.offset + whole.size;
    return file != nullptr && place.segment == whole.segment && place.offset >= end &&
           place.offset - end <= kReadGapMax;
  }
  void Add(const LogPlace& place) {
    whole.size = place.offset + place.size - whole.offset;
    parts.push_back(place);
  }
};

Status ReadParts(const ReadRun& run, std::vector<std::string>* entries) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadPlace(run.file.get(), run.whole));
  for (const LogPlace& part : run.parts) {
    entries->push_back(bytes.substr(part.offset - run.whole.offset, part.size));
  }
  return OkStatus();
}

}  // namespace

// A batch that is being made.
struct SharedLog::Draft {
  struct Item {
    LogRecord record;
    std::vector<size_t> offsets;  // of its entries
  };

  // Completes the record by what `partition` has, whose last record may be in this batch already.
  void Add(LogRecord record, const LogPartition* partition) {
    if (partition != nullptr) {
      const bool is_here = !here.insert(record.partition).second;
      record.previous = is_here ? number : partition->last_batch();
      if (!is_here && partition->last_batch() == 0) record.name = partition->name();
    }
    items.push_back({std::move(record), {}});
    writer.Add(items.back().record, &items.back().offsets);
  }

  uint64_t number;
  LogBatchWriter writer;
  std::deque<Item> items{};
  std::set<uint32_t> here{};         // partitions with records in the batch
  std::deque<std::string> copied{};  // bytes of copied entries
};

// Entries of the oldest segment that are still to be copied, the next one last.
struct SharedLog::CopyPlan {
  uint32_t segment = 0;
  std::vector<std::pair<uint32_t, Lsn>> entries;
};

// Consecutive entries of a partition that are copied together.
struct SharedLog::CopyRun {
  uint32_t partition = 0;
  Lsn first = 0;
  std::vector<LogPlace> places;
};

SharedLog::SharedLog(std::unique_ptr<LogSegments> segments, HighWaterMark mark,
                     const SharedLogOptions& options)
    : options_(options), segments_(std::move(segments)), mark_(std::move(mark)) {}

SharedLog::~SharedLog() {
  if (broken().ok()) (void)SyncMark().ok();  // a mark that is behind claims less
}

// Opening.

StatusOr<std::shared_ptr<SharedLog>> SharedLog::Open(LogFiles& files,
                                                     const SharedLogOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(auto segments, LogSegments::Open(files, options.new_salt));
  NEPTUNE_ASSIGN_OR_RETURN(HighWaterMark mark,
                           HighWaterMark::Open(files, segments->mark_name(), segments->salt()));
  std::shared_ptr<SharedLog> log(new SharedLog(std::move(segments), std::move(mark), options));
  BlockingLock lock(&log->commit_mutex_);
  log->broken_ = log->Recover();
  NEPTUNE_RETURN_IF_ERROR(log->broken_);
  return log;
}

Status SharedLog::Recover() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  LogReplay replay(segments_->salt(), use_, partitions_);
  uint64_t unreadable_size = 0;
  NEPTUNE_RETURN_IF_ERROR(segments_->Load(
      [&](uint32_t segment, std::string_view bytes) { replay.TakeSegment(segment, bytes); },
      &unreadable_size));
  // If neither the mark nor some of the log can be read, more was synced than is known.
  const bool may_lack_end = unreadable_size > 0 && !mark_.is_whole();
  const uint64_t synced = std::max(mark_.batch(), replay.last().number + (may_lack_end ? 1 : 0));
  replay.End(synced);
  last_batch_ = synced;
  last_checksum_ = last_batch_ == replay.last().number ? replay.last().checksum : 0;
  largest_partition_ = replay.largest_partition();
  may_lack_names_ = replay.may_lack_names();
  statistics_.damage = replay.damage();
  if (unreadable_size > 0) {
    StrAppend(&statistics_.damage, statistics_.damage.empty() ? "" : "; ", unreadable_size,
              " bytes of the node's log cannot be read");
  }
  for (const auto& [number, partition] : partitions_) numbers_[partition.name()] = number;
  if (segments_->empty()) return BeginSegment();
  const LogReplay::LastBatch& last = replay.last();
  if (last.number != 0) {
    NEPTUNE_RETURN_IF_ERROR(segments_->Renew({last.segment, last.offset, last.size}, replay.end()));
    NEPTUNE_RETURN_IF_ERROR(mark_.Note(last_batch_));
  }
  // After damage a new segment records what is known now.
  const bool is_sound = statistics_.damage.empty() && last.number != 0;
  if (!is_sound) return BeginSegment();
  return segments_->newest_size() == 0 ? WriteSummary() : OkStatus();
}

SharedLog::Found SharedLog::Attach(std::string_view name) {
  LeafLock lock(&index_mutex_);
  auto number = numbers_.find(name);
  if (number == numbers_.end()) {
    number = numbers_.emplace(std::string(name), ++largest_partition_).first;
    LogPartition& added = partitions_.try_emplace(number->second, use_).first->second;
    added.set_name(std::string(name));
    if (may_lack_names_)
      added.NoteDamage(StrCat("it may be in what is lost: ", statistics_.damage));
  }
  const LogPartition& partition = partitions_.at(number->second);
  Found found;
  found.partition = number->second;
  found.is_new = partition.last_batch() == 0;
  found.identity = partition.identity();
  found.state = partition.state();
  found.first_lsn = partition.places().first_lsn();
  found.last_lsn = partition.places().last_lsn();
  found.damage = partition.damage();
  return found;
}

// Writing.

SharedLog::Draft SharedLog::MakeDraft() const {
  const uint64_t number = last_batch_ + 1;
  return {number, LogBatchWriter(segments_->salt(), number, last_checksum_)};
}

Status SharedLog::Commit(const std::vector<PartitionChange>& changes) {
  size_t size = 0;
  for (const PartitionChange& change : changes) {
    size += change.identity.size() + change.state.size();
    for (const std::string& entry : change.entries) size += entry.size() + sizeof(uint32_t);
  }
  if (size > kLogBatchSizeMax / 2) {
    return InvalidArgument("changes of ", size, " bytes exceed ", kLogBatchSizeMax / 2);
  }
  BlockingLock lock(&commit_mutex_);
  if (!broken_.ok()) {
    return Unavailable("the node's log must be opened again after: ", ToStd(broken_.message()));
  }
  if (segments_->newest_size() >= options_.segment_size) {
    broken_ = BeginSegment();
    NEPTUNE_RETURN_IF_ERROR(broken_);
  }
  Draft draft = MakeDraft();
  AddCopies(std::max(kCopySizeMin, size), draft);  // first, as the changes are of what is copied
  for (const PartitionChange& change : changes) Add(change, draft);
  broken_ = Annotate(Write(draft), "write the node's log");
  NEPTUNE_RETURN_IF_ERROR(broken_);
  RemoveDeadSegments();
  LeafLock index_lock(&index_mutex_);
  statistics_.change_count += changes.size();
  return OkStatus();
}

void SharedLog::Add(const PartitionChange& change, Draft& draft) {
  LogRecord record;
  record.partition = change.partition;
  record.is_restart = change.is_restart;
  record.drop_from = change.drop_from;
  record.first_lsn = change.first_lsn;
  record.last_lsn = change.last_lsn;
  record.identity = change.identity;
  record.state = change.state;
  record.entries_lsn = change.entries_lsn;
  record.entries.assign(change.entries.begin(), change.entries.end());
  LeafLock lock(&index_mutex_);
  draft.Add(std::move(record), &partitions_.at(change.partition));
}

Status SharedLog::Write(Draft& draft) {
  const LogBatchWriter::Written written = draft.writer.Finish();
  NEPTUNE_ASSIGN_OR_RETURN(const LogPlace place, segments_->Append(written.bytes));
  last_batch_ = draft.number;
  last_checksum_ = written.checksum;
  {
    LeafLock lock(&index_mutex_);
    ++statistics_.batch_count;
    for (const Draft::Item& item : draft.items) {
      if (item.record.partition == kNoPartition) continue;
      std::vector<LogPlace> places;
      for (size_t i = 0; i < item.offsets.size(); ++i) {
        places.push_back({place.segment, place.offset + static_cast<uint32_t>(item.offsets[i]),
                          static_cast<uint32_t>(item.record.entries[i].size())});
      }
      partitions_.at(item.record.partition).Apply(item.record, draft.number, places);
    }
  }
  return mark_.Note(draft.number);
}

Status SharedLog::BeginSegment() {
  NEPTUNE_RETURN_IF_ERROR(segments_->Begin());
  NEPTUNE_RETURN_IF_ERROR(WriteSummary());
  return mark_.Sync();
}

Status SharedLog::WriteSummary() {
  Draft draft = MakeDraft();
  LogRecord begin;
  begin.partition = kNoPartition;
  begin.kind = LogRecordKind::kSegment;
  draft.Add(begin, nullptr);
  {
    LeafLock lock(&index_mutex_);
    for (const auto& [number, partition] : partitions_) {
      if (partition.last_batch() == 0) continue;
      LogRecord row;
      row.partition = number;
      row.kind = LogRecordKind::kSummary;
      row.is_damaged = partition.is_damaged();
      row.first_lsn = partition.places().first_lsn();
      row.last_lsn = partition.places().last_lsn();
      row.name = partition.name();
      row.identity = partition.identity();
      row.state = partition.state();
      draft.Add(std::move(row), &partition);
    }
  }
  // The views of the rows stay valid: only commits, which this thread has locked out, change them.
  return Write(draft);
}

// Space.

bool SharedLog::HasMuchWaste() const {
  if (segments_->oldest() <= decayed_through_) return true;
  LeafLock lock(&index_mutex_);
  const uint64_t needed = 2 * use_.size();
  const size_t needed_count = static_cast<size_t>(needed / options_.segment_size);
  return segments_->count() > needed_count + 2 * kSpareSegmentCount ||
         segments_->size() > needed + kSpareSegmentCount * options_.segment_size;
}

void SharedLog::PlanCopies(uint32_t segment) {
  copies_ = std::make_unique<CopyPlan>();
  copies_->segment = segment;
  LeafLock lock(&index_mutex_);
  for (const auto& [number, partition] : partitions_) {
    const LogPlaces& places = partition.places();
    for (Lsn lsn = places.first_lsn(); lsn <= places.last_lsn(); ++lsn) {
      if (places.at(lsn).segment == segment) copies_->entries.push_back({number, lsn});
    }
  }
  std::reverse(copies_->entries.begin(), copies_->entries.end());
}

void SharedLog::AddCopies(size_t size_max, Draft& draft) {
  if (segments_->count() < 2 || !HasMuchWaste()) return;
  const uint32_t oldest = segments_->oldest();
  const bool is_planned =
      copies_ != nullptr && copies_->segment == oldest && !copies_->entries.empty();
  if (!is_planned) PlanCopies(oldest);
  while (!copies_->entries.empty() && draft.writer.size() < size_max) {
    Copy(NextRun(size_max), draft);
  }
}

SharedLog::CopyRun SharedLog::NextRun(size_t size_max) {
  CopyRun run;
  size_t size = 0;
  LeafLock lock(&index_mutex_);
  while (!copies_->entries.empty() && size < size_max) {
    const auto [partition, lsn] = copies_->entries.back();
    const bool follows = partition == run.partition && lsn == run.first + run.places.size();
    if (!run.places.empty() && !follows) break;
    copies_->entries.pop_back();
    const LogPlaces& places = partitions_.at(partition).places();
    const bool is_needed = places.Holds(lsn) && places.at(lsn).segment == copies_->segment;
    if (!is_needed) continue;
    if (run.places.empty()) run = {partition, lsn, {}};
    run.places.push_back(places.at(lsn));
    size += places.at(lsn).size;
  }
  return run;
}

void SharedLog::Copy(const CopyRun& run, Draft& draft) {
  if (run.places.empty()) return;
  const std::shared_ptr<LogFile> file = segments_->FileOf(copies_->segment);
  LogRecord record;
  Status status;
  for (size_t i = 0; i < run.places.size() && status.ok(); ++i) {
    StatusOr<std::string> bytes = ReadPlace(file.get(), run.places[i]);
    status = bytes.ok() ? Unsealed(*bytes, "the entry").status() : bytes.status();
    if (!status.ok()) break;
    draft.copied.push_back(*std::move(bytes));
    record.entries.push_back(draft.copied.back());
  }
  LeafLock lock(&index_mutex_);
  LogPartition& partition = partitions_.at(run.partition);
  const Lsn next = run.first + record.entries.size();
  if (!status.ok()) {
    partition.Lose(next, StrCat("copying entry ", next, ": ", ToStd(status.message())));
    ++statistics_.damage_count;
  }
  if (record.entries.empty()) return;
  statistics_.copied_count += record.entries.size();
  record.partition = run.partition;
  record.kind = LogRecordKind::kCopy;
  record.first_lsn = partition.places().first_lsn();
  record.last_lsn = partition.places().last_lsn();
  record.entries_lsn = run.first;
  draft.Add(std::move(record), &partition);
}

void SharedLog::RemoveDeadSegments() {
  while (segments_->count() > 1) {
    {
      LeafLock lock(&index_mutex_);
      if (use_.size_of(segments_->oldest()) > 0) return;
    }
    if (!segments_->RemoveOldest().ok()) return;  // tried again after the next commit
  }
}

StatusOr<bool> SharedLog::Mend(size_t size_max) {
  BlockingLock lock(&commit_mutex_);
  if (decayed_through_ == 0) return false;
  NEPTUNE_RETURN_IF_ERROR(broken_);
  if (segments_->newest() <= decayed_through_) {
    broken_ = BeginSegment();
    NEPTUNE_RETURN_IF_ERROR(broken_);
  }
  Draft draft = MakeDraft();
  AddCopies(size_max, draft);
  if (!draft.items.empty()) {
    broken_ = Annotate(Write(draft), "write the node's log");
    NEPTUNE_RETURN_IF_ERROR(broken_);
  }
  RemoveDeadSegments();
  if (segments_->oldest() > decayed_through_) decayed_through_ = 0;
  return decayed_through_ != 0;
}

// Reading.

StatusOr<std::vector<std::string>> SharedLog::Read(uint32_t partition, Lsn first, Lsn last,
                                                   size_t size_max) const {
  std::vector<ReadRun> runs;
  {
    LeafLock lock(&index_mutex_);
    const LogPlaces& places = partitions_.at(partition).places();
    size_t size = 0;
    for (Lsn lsn = first; lsn <= last && places.Holds(lsn); ++lsn) {
      const LogPlace& place = places.at(lsn);
      if (place.is_missing()) return DataLoss("log entry ", lsn, " is lost");
      size += place.size;
      if (size > size_max && lsn > first) break;
      if (runs.empty() || !runs.back().Takes(place)) {
        runs.push_back({segments_->FileOf(place.segment), {place.segment, place.offset, 0}, {}});
      }
      runs.back().Add(place);
    }
  }
  std::vector<std::string> entries;
  for (const ReadRun& run : runs) NEPTUNE_RETURN_IF_ERROR(ReadParts(run, &entries));
  return entries;
}

void SharedLog::NoteDamage(uint32_t partition, const std::string& what) {
  LeafLock lock(&index_mutex_);
  partitions_.at(partition).NoteDamage(what);
  ++statistics_.damage_count;
}

SharedLog::Damage SharedLog::DamageOf(uint32_t partition) const {
  LeafLock lock(&index_mutex_);
  const LogPartition& log = partitions_.at(partition);
  return {log.damage(), log.is_damaged() ? 0 : log.last_lost()};
}

Status SharedLog::SyncMark() {
  BlockingLock lock(&commit_mutex_);
  return mark_.Sync();
}

Status SharedLog::broken() const {
  BlockingLock lock(&commit_mutex_);
  return broken_;
}

SharedLog::Statistics SharedLog::statistics() const {
  LeafLock lock(&index_mutex_);
  Statistics statistics = statistics_;
  statistics.segment_count = segments_->count();
  statistics.size = segments_->size();
  statistics.live_size = use_.size();
  return statistics;
}

}  // namespace neptune
