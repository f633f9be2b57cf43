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

// Calls `visitor` on [begin, end) until it returns false. Errors: DATA_LOSS at a damaged entry.
template <typename Iterator>
Status Visit(Iterator begin, Iterator end, const Damaged& damaged,
             const KeyValueStore::Visitor& visitor) {
  for (Iterator entry = begin; entry != end; ++entry) {
    if (damaged.contains(entry->first)) return DataLoss("what is stored is damaged");
    if (!visitor(entry->first, entry->second)) return OkStatus();
  }
  return OkStatus();
}

}  // namespace

struct SimStorage::Disk {
  Contents current;               // what reads see
  Contents durable;               // what survives every crash
  std::vector<WriteBatch> later;  // batches in `current` but not yet in `durable`, in order
  Damaged damaged;
  bool is_damaged = false;  // as a whole
  bool is_open = false;
  int process = 0;  // counts the processes of the host

  void Write(const WriteBatch& batch) {
    Apply(batch, &current);
    if (!damaged.empty()) {
      for (const WriteBatch::Operation& operation : batch.operations()) Mend(operation, &damaged);
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

  void EndProcess() {
    is_open = false;
    ++process;
  }

 private:
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

class SimStorage::Store : public KeyValueStore {
 public:
  Store(std::string name, std::shared_ptr<Disk> disk, std::shared_ptr<Status> write_status,
        std::shared_ptr<const Capacity> space, std::shared_ptr<const Faults> faults)
      : name_(std::move(name)),
        disk_(std::move(disk)),
        write_status_(std::move(write_status)),
        space_(std::move(space)),
        faults_(std::move(faults)),
        process_(disk_->process) {}
  ~Store() override {
    if (alive()) disk_->is_open = false;
  }

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    NEPTUNE_RETURN_IF_ERROR(CheckReadable());
    if (disk_->damaged.contains(key)) {
      return Annotate(DataLoss("what is stored is damaged"), StrCat("read store ", name_));
    }
    const auto entry = disk_->current.find(key);
    if (entry == disk_->current.end()) return std::optional<std::string>();
    return std::optional<std::string>(entry->second);
  }

  Status Write(const WriteBatch& batch, WriteMode mode) override {
    NEPTUNE_RETURN_IF_ERROR(batch.Check());
    NEPTUNE_RETURN_IF_ERROR(CheckWritable());
    if (batch.size() > space_->Free()) {
      return ResourceExhausted("write to store ", name_, ": no space left");
    }
    disk_->Write(batch);
    if (mode == WriteMode::kSynced) disk_->Sync();
    return OkStatus();
  }

  Status Sync() override {
    NEPTUNE_RETURN_IF_ERROR(CheckWritable());
    disk_->Sync();
    return OkStatus();
  }

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    NEPTUNE_RETURN_IF_ERROR(CheckReadable());
    const Contents& entries = disk_->current;
    if (options.end.has_value() && *options.end <= options.first) return OkStatus();
    const auto begin = entries.lower_bound(options.first);
    const auto end = options.end.has_value() ? entries.lower_bound(*options.end) : entries.end();
    const Status visited = options.backward
                               ? Visit(std::make_reverse_iterator(end),
                                       std::make_reverse_iterator(begin), disk_->damaged, visitor)
                               : Visit(begin, end, disk_->damaged, visitor);
    return visited.ok() ? visited : Annotate(visited, StrCat("scan store ", name_));
  }

 private:
  bool alive() const { return disk_->process == process_; }

  Status CheckAlive() const {
    return alive() ? OkStatus()
                   : Unavailable("store ", name_, ": the process that opened it has ended");
  }

  Status CheckReadable() const {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    if (faults_->read.ok()) return OkStatus();
    return Annotate(faults_->read, StrCat("read store ", name_));
  }

  Status CheckWritable() const {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    return Annotate(*write_status_, StrCat("write to store ", name_));
  }

  const std::string name_;
  const std::shared_ptr<Disk> disk_;
  const std::shared_ptr<Status> write_status_;
  const std::shared_ptr<const Capacity> space_;
  const std::shared_ptr<const Faults> faults_;
  const int process_;
};

SimStorage::SimStorage()
    : write_status_(std::make_shared<Status>()),
      faults_(std::make_shared<Faults>()),
      space_(std::make_shared<Capacity>()) {
  space_->disks = &disks_;
}
SimStorage::~SimStorage() = default;

StatusOr<std::unique_ptr<KeyValueStore>> SimStorage::Open(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  NEPTUNE_RETURN_IF_ERROR(Annotate(faults_->open, StrCat("open store ", name)));
  std::shared_ptr<Disk>& disk = disks_[std::string(name)];
  if (disk == nullptr) disk = std::make_shared<Disk>();
  if (disk->is_open) return FailedPrecondition("store ", name, " is open");
  if (disk->is_damaged) return DataLoss("open store ", name, ": what is stored is damaged");
  disk->is_open = true;
  return std::make_unique<Store>(std::string(name), disk, write_status_, space_, faults_);
}

Status SimStorage::Destroy(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  const auto entry = disks_.find(name);
  if (entry == disks_.end()) return OkStatus();
  if (entry->second->is_open) return FailedPrecondition("store ", name, " is open");
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
  *write_status_ = std::move(status);
}

void SimStorage::LimitSpace(uint64_t total) { space_->total = total; }

StatusOr<DiskSpace> SimStorage::Space() const {
  return DiskSpace{.total = space_->total, .free = space_->Free()};
}

void SimStorage::FailReads(Status status) { faults_->read = std::move(status); }

void SimStorage::FailOpens(Status status) { faults_->open = std::move(status); }

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

size_t SimStorage::unsynced_count() const {
  size_t count = 0;
  for (const auto& [name, disk] : disks_) count += disk->later.size();
  return count;
}

}  // namespace neptune
