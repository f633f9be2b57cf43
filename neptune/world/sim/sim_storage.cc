#include "neptune/world/sim/sim_storage.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace neptune {
namespace {

using Contents = std::map<std::string, std::string, std::less<>>;

void Apply(const WriteBatch::Operation& operation, Contents* contents) {
  switch (operation.kind) {
    case WriteBatch::Operation::Kind::kPut:
      (*contents)[operation.key] = operation.value;
      break;
    case WriteBatch::Operation::Kind::kDelete:
      contents->erase(operation.key);
      break;
    case WriteBatch::Operation::Kind::kDeleteRange:
      contents->erase(contents->lower_bound(operation.key), contents->lower_bound(operation.value));
      break;
  }
}

void Apply(const WriteBatch& batch, Contents* contents) {
  for (const WriteBatch::Operation& operation : batch.operations()) Apply(operation, contents);
}

uint64_t SizeOf(const Contents& contents) {
  uint64_t size = 0;
  for (const auto& [key, value] : contents) size += key.size() + value.size();
  return size;
}

// Keys whose stored bytes are damaged.
using Damaged = std::set<std::string, std::less<>>;

// What is written again is sound.
void Mend(const WriteBatch::Operation& operation, Damaged* damaged) {
  const auto first = damaged->lower_bound(operation.key);
  if (operation.kind == WriteBatch::Operation::Kind::kDeleteRange) {
    damaged->erase(first, damaged->lower_bound(operation.value));
  } else {
    damaged->erase(operation.key);
  }
}

// What a view shows of the keys that were changed after it was opened; nullopt: nothing.
using Past = std::map<std::string, std::optional<std::string>, std::less<>>;

template <typename Map>
struct Range {
  Range(const Map& entries, const ScanOptions& options)
      : begin(entries.lower_bound(options.first)),
        end(options.end.has_value() ? entries.lower_bound(*options.end) : entries.end()) {}
  typename Map::const_iterator begin, end;
};

// What may be visited: the present entries, those of a view, and which of the former are damaged.
struct Visited {
  const Contents& entries;
  const Past& past;
  const Damaged& damaged;
};

// Visits [now, now_end), where [then, then_end) replaces what has the same keys, until `visitor`
// returns false. Errors: DATA_LOSS at a damaged entry.
template <typename Now, typename Then, typename Order>
Status VisitMerged(std::pair<Now, Now> now, std::pair<Then, Then> then, Order is_before,
                   const Damaged& damaged, const KeyValueView::Visitor& visitor) {
  auto& [entry, end] = now;
  auto& [old, old_end] = then;
  while (entry != end || old != old_end) {
    const bool is_replaced =
        old != old_end && (entry == end || !is_before(entry->first, old->first));
    if (!is_replaced) {
      if (damaged.contains(entry->first)) return DataLoss("what is stored is damaged");
      if (!visitor(entry->first, entry->second)) return OkStatus();
      ++entry;
      continue;
    }
    if (entry != end && entry->first == old->first) ++entry;
    if (old->second && !visitor(old->first, *old->second)) return OkStatus();
    ++old;
  }
  return OkStatus();
}

Status Visit(const Visited& visited, const ScanOptions& options,
             const KeyValueView::Visitor& visitor) {
  if (options.end.has_value() && *options.end <= options.first) return OkStatus();
  const Range now(visited.entries, options);
  const Range then(visited.past, options);
  if (!options.backward) {
    return VisitMerged(std::pair(now.begin, now.end), std::pair(then.begin, then.end),
                       std::less<>(), visited.damaged, visitor);
  }
  return VisitMerged(
      std::pair(std::make_reverse_iterator(now.end), std::make_reverse_iterator(now.begin)),
      std::pair(std::make_reverse_iterator(then.end), std::make_reverse_iterator(then.begin)),
      std::greater<>(), visited.damaged, visitor);
}

}  // namespace

// What happens to the calls of all stores of the host.
struct SimStorage::Faults {
  Status write;
  Status read;
  Interceptor intercept;
  std::shared_ptr<SimDiskFaults> disk;
};

struct SimStorage::Disk {
  Contents current;               // what reads see
  Contents durable;               // what survives every crash
  std::vector<WriteBatch> later;  // batches in `current` but not yet in `durable`, in order
  Damaged damaged;
  bool is_damaged = false;  // as a whole
  std::vector<std::weak_ptr<Past>> views;
  bool is_open = false;
  int process = 0;  // counts the processes of the host

  void Write(const WriteBatch& batch) {
    std::erase_if(views, [](const auto& view) { return view.expired(); });
    for (const WriteBatch::Operation& operation : batch.operations()) {
      if (!views.empty()) KeepForViews(operation);
      Apply(operation, &current);
      if (!damaged.empty()) Mend(operation, &damaged);
    }
    later.push_back(batch);
    if (later.size() > kUnsyncedCountMax) KeepFirst(later.size() / 2);
  }

  void Sync() { KeepFirst(later.size()); }

  void Crash(RandomSource& random) {
    KeepFirst(random.Below(later.size() + 1));
    later.clear();
    current = durable;
    EndProcess();
  }

  // Threads of a killed process are abandoned with what they held, so its views are never let go.
  void EndProcess() {
    is_open = false;
    ++process;
    for (const std::weak_ptr<Past>& view : views) {
      if (const std::shared_ptr<Past> past = view.lock()) past->clear();
    }
    views.clear();
  }

  // Abandoned threads keep the disk alive, but not what was on it.
  void Erase() {
    EndProcess();
    current.clear();
    durable.clear();
    later = {};
    damaged.clear();
  }

 private:
  void KeepForViews(const WriteBatch::Operation& operation) {
    if (operation.kind != WriteBatch::Operation::Kind::kDeleteRange) {
      return KeepForViews(operation.key);
    }
    const auto end = current.lower_bound(operation.value);
    for (auto entry = current.lower_bound(operation.key); entry != end; ++entry) {
      KeepForViews(entry->first);
    }
  }
  void KeepForViews(const std::string& key) {
    const auto found = current.find(key);
    for (const std::weak_ptr<Past>& view : views) {
      const std::shared_ptr<Past> past = view.lock();
      if (past == nullptr || past->contains(key)) continue;
      (*past)[key] = found == current.end() ? std::nullopt : std::optional(found->second);
    }
  }
  void KeepFirst(size_t count) {
    for (size_t i = 0; i < count; ++i) Apply(later[i], &durable);
    later.erase(later.begin(), later.begin() + static_cast<ptrdiff_t>(count));
  }
};

// All stores share the space of the disk.
struct SimStorage::Capacity {
  const std::map<std::string, std::shared_ptr<Disk>, std::less<>>* disks;
  uint64_t total = UINT64_MAX;

  // Measured each time, because only tests of full disks have a limit.
  uint64_t Free() const {
    if (total == UINT64_MAX) return total;
    uint64_t used = 0;
    for (const auto& [name, disk] : *disks) used += SizeOf(disk->current);
    return total - std::min(total, used);
  }
};

// A store that a process has opened, shared by the store and its views.
struct SimStorage::Opened {
  Opened(std::string name, std::shared_ptr<Disk> disk, std::shared_ptr<const Capacity> space,
         std::shared_ptr<const Faults> faults)
      : name(std::move(name)),
        disk(std::move(disk)),
        space(std::move(space)),
        faults(std::move(faults)),
        process(this->disk->process) {}
  ~Opened() {
    if (is_alive()) disk->is_open = false;
  }
  bool is_alive() const { return disk->process == process; }
  Status CheckAlive() const {
    return is_alive() ? OkStatus()
                      : Unavailable("store ", name, ": the process that opened it has ended");
  }
  Status CheckReadable() const {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    NEPTUNE_RETURN_IF_ERROR(faults->disk->BeforeRead("store ", name));
    return faults->read.ok() ? OkStatus() : Annotate(faults->read, StrCat("read store ", name));
  }
  Status CheckWritable(WriteMode mode, size_t size) const {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    Status status = faults->write;
    if (status.ok() && size > space->Free()) status = ResourceExhausted("no space left");
    if (!status.ok()) faults->disk->NoteRefusedWrite();
    if (status.ok()) status = faults->disk->BeforeWrite("", "the disk");
    if (status.ok() && faults->intercept) status = faults->intercept(name, mode);
    return Annotate(status, StrCat("write to store ", name));
  }
  // Visits the entries as `past` shows them.
  Status Scan(const Past& past, const ScanOptions& options,
              const KeyValueView::Visitor& visitor) const {
    NEPTUNE_RETURN_IF_ERROR(CheckReadable());
    return Annotate(Visit({disk->current, past, disk->damaged}, options, visitor),
                    StrCat("scan store ", name));
  }

  const std::string name;
  const std::shared_ptr<Disk> disk;
  const std::shared_ptr<const Capacity> space;
  const std::shared_ptr<const Faults> faults;
  const int process;
};

class SimStorage::View : public KeyValueView {
 public:
  explicit View(std::shared_ptr<const Opened> opened) : opened_(std::move(opened)) {
    opened_->disk->views.push_back(past_);
  }

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return opened_->Scan(*past_, options, visitor);
  }

 private:
  const std::shared_ptr<const Opened> opened_;
  const std::shared_ptr<Past> past_ = std::make_shared<Past>();
};

class SimStorage::Store : public KeyValueStore {
 public:
  explicit Store(std::shared_ptr<const Opened> opened) : opened_(std::move(opened)) {}

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    NEPTUNE_RETURN_IF_ERROR(opened_->CheckReadable());
    if (disk().damaged.contains(key)) {
      return Annotate(DataLoss("what is stored is damaged"), StrCat("read store ", opened_->name));
    }
    const auto entry = disk().current.find(key);
    if (entry == disk().current.end()) return std::optional<std::string>();
    return std::optional<std::string>(entry->second);
  }

  Status Write(const WriteBatch& batch, WriteMode mode) override {
    NEPTUNE_RETURN_IF_ERROR(batch.Check());
    NEPTUNE_RETURN_IF_ERROR(opened_->CheckWritable(mode, batch.size()));
    disk().Write(batch);
    return mode == WriteMode::kSynced ? Flush() : OkStatus();
  }

  Status Sync() override {
    NEPTUNE_RETURN_IF_ERROR(opened_->CheckWritable(WriteMode::kSynced, /*size=*/0));
    return Flush();
  }

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    return opened_->Scan({}, options, visitor);
  }

  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override {
    NEPTUNE_RETURN_IF_ERROR(opened_->CheckAlive());
    return std::make_unique<View>(opened_);
  }

 private:
  Disk& disk() const { return *opened_->disk; }
  Status Flush() {
    NEPTUNE_RETURN_IF_ERROR(opened_->faults->disk->BeforeFlush("store ", opened_->name));
    disk().Sync();
    return OkStatus();
  }

  const std::shared_ptr<const Opened> opened_;
};

SimStorage::SimStorage()
    : disk_faults_(std::make_shared<SimDiskFaults>()),
      faults_(std::make_shared<Faults>()),
      log_files_(disk_faults_),
      space_(std::make_shared<Capacity>()) {
  faults_->disk = disk_faults_;
  space_->disks = &disks_;
}
SimStorage::~SimStorage() {
  for (auto& [name, disk] : disks_) disk->Erase();
}

StatusOr<std::unique_ptr<KeyValueStore>> SimStorage::Open(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  NEPTUNE_RETURN_IF_ERROR(disk_faults_->BeforeOpen("store ", name));
  std::shared_ptr<Disk>& disk = disks_[std::string(name)];
  if (disk == nullptr) disk = std::make_shared<Disk>();
  if (disk->is_open) return FailedPrecondition("store ", name, " is open");
  if (disk->is_damaged) return DataLoss("open store ", name, ": what is stored is damaged");
  disk->is_open = true;
  return std::make_unique<Store>(
      std::make_shared<Opened>(std::string(name), disk, space_, faults_));
}

Status SimStorage::Destroy(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  NEPTUNE_RETURN_IF_ERROR(disk_faults_->BeforeWrite("destroy store ", name));
  const auto entry = disks_.find(name);
  if (entry == disks_.end()) return OkStatus();
  if (entry->second->is_open) return FailedPrecondition("store ", name, " is open");
  entry->second->Erase();
  disks_.erase(entry);
  return OkStatus();
}

StatusOr<std::vector<std::string>> SimStorage::List() const {
  std::vector<std::string> names;
  for (const auto& [name, disk] : disks_) names.push_back(name);
  return names;
}

void SimStorage::Crash(RandomSource& random) {
  for (auto& [name, disk] : disks_) disk->Crash(random);
  log_files_.Crash(random);
}

void SimStorage::EndProcess() {
  for (auto& [name, disk] : disks_) disk->EndProcess();
  log_files_.EndProcess();
}

void SimStorage::FailWrites(Status status) {
  log_files_.FailWrites(status);
  faults_->write = std::move(status);
}

void SimStorage::LimitSpace(uint64_t total) { space_->total = total; }

StatusOr<DiskSpace> SimStorage::Space() const {
  const bool is_full = faults_->write.code() == StatusCode::kResourceExhausted;
  if (said_space_ && !is_full) return *said_space_;
  return DiskSpace{.total = space_->total, .free = is_full ? 0 : space_->Free()};
}

void SimStorage::FailReads(Status status) { faults_->read = std::move(status); }

void SimStorage::FailOpens(Status status) { disk_faults_->FailOpens(std::move(status)); }

Status SimStorage::DamageValue(std::string_view name, std::string_view key) {
  const auto disk = disks_.find(name);
  if (disk == disks_.end() || !disk->second->current.contains(key)) {
    return NotFound("store ", name, " has no key ", key);
  }
  disk->second->damaged.emplace(key);
  return OkStatus();
}

Status SimStorage::DamageStore(std::string_view name) {
  const auto disk = disks_.find(name);
  if (disk == disks_.end()) return NotFound("there is no store ", name);
  disk->second->is_damaged = true;
  return OkStatus();
}

std::optional<std::string> SimStorage::DamageSomething(RandomSource& random) {
  // One of this many damages makes a store unreadable as a whole, as in its list of files.
  constexpr uint64_t kWholeStoreEvery = 8;
  constexpr int kBitsPerByte = 8;
  uint64_t stores_size = 0;
  for (const auto& [name, disk] : disks_) stores_size += SizeOf(disk->current);
  uint64_t place = random.Below(log_files_.size() + stores_size);
  const int bit = static_cast<int>(random.Below(kBitsPerByte));
  for (const std::string& name : log_files_.Names()) {
    const uint64_t size = log_files_.ContentsOf(name).size();
    if (place < size) {
      log_files_.FlipBit(name, place, bit);
      return StrCat("bit ", bit, " of byte ", place, " of log file ", name);
    }
    place -= size;
  }
  for (const auto& [name, disk] : disks_) {
    for (const auto& [key, value] : disk->current) {
      const uint64_t size = key.size() + value.size();
      if (place >= size) {
        place -= size;
        continue;
      }
      disk->is_damaged = random.Below(kWholeStoreEvery) == 0;
      if (disk->is_damaged) return StrCat("store ", name, " as a whole");
      disk->damaged.insert(key);
      return StrCat("a value of ", value.size(), " bytes of store ", name);
    }
  }
  return std::nullopt;
}

bool SimStorage::has_damage() const {
  return std::any_of(disks_.begin(), disks_.end(), [](const auto& entry) {
    const Disk& disk = *entry.second;
    return disk.is_damaged ||
           std::any_of(disk.damaged.begin(), disk.damaged.end(),
                       [&](const std::string& key) { return disk.current.contains(key); });
  });
}

void SimStorage::Intercept(Interceptor intercept) {
  SimLogFiles::Interceptor of_logs;
  if (intercept) {
    of_logs = [intercept](std::string_view file, bool is_sync) {
      return intercept(file, is_sync ? WriteMode::kSynced : WriteMode::kBuffered);
    };
  }
  log_files_.Intercept(std::move(of_logs));
  faults_->intercept = std::move(intercept);
}

size_t SimStorage::unsynced_count() const {
  size_t count = 0;
  for (const auto& [name, disk] : disks_) count += disk->later.size();
  return count;
}

}  // namespace neptune
