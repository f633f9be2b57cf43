#include "neptune/world/sim/sim_log_files.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/world/storage.h"

namespace neptune {

// What all files of the host share.
struct SimLogFiles::Host {
  std::shared_ptr<SimDiskFaults> faults;
  Status write_status;
  Status sync_status;
  Interceptor intercept;
  int process = 0;  // counts the processes of the host
  uint64_t sync_count = 0;
};

struct SimLogFiles::Contents {
  // A change that is not durable yet, with what it replaced.
  struct Change {
    uint64_t offset = 0;
    std::string after;
    std::string before;  // of the same bytes, as far as they existed
    uint64_t old_size = 0;
    bool is_cut = false;  // the file ends at `offset`
  };
  std::string bytes;
  std::vector<Change> changes;
  uint64_t unreadable_from = 0;
  uint64_t unreadable_to = 0;

  // How much of the beginning is durable.
  uint64_t durable_size() const {
    uint64_t size = bytes.size();
    for (const Change& change : changes) size = std::min(size, change.offset);
    return size;
  }
  void Write(uint64_t offset, std::string_view after) {
    Change change;
    change.offset = offset;
    change.after = after;
    change.before = bytes.substr(offset, after.size());
    change.old_size = bytes.size();
    changes.push_back(std::move(change));
    Put(offset, after);
  }
  void Cut(uint64_t size) {
    Change change;
    change.offset = size;
    change.before = bytes.substr(size);
    change.old_size = bytes.size();
    change.is_cut = true;
    changes.push_back(std::move(change));
    bytes.resize(size);
  }
  // Frees the memory too, which assigning an empty string would keep.
  void Erase() {
    std::string().swap(bytes);
    std::vector<Change>().swap(changes);
  }
  void Crash(RandomSource& random) {
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      bytes.resize(std::max<uint64_t>(change->old_size, change->offset));
      bytes.replace(change->offset, change->before.size(), change->before);
      bytes.resize(change->old_size);
    }
    for (const Change& change : changes) Redo(change, random);
    changes.clear();
  }

 private:
  void Put(uint64_t offset, std::string_view after) {
    if (bytes.size() < offset + after.size()) bytes.resize(offset + after.size());
    bytes.replace(offset, after.size(), after);
  }
  void Redo(const Change& change, RandomSource& random) {
    const uint64_t fate = random.Below(3);
    if (fate == 0) return;
    if (change.is_cut) return bytes.resize(std::min<uint64_t>(bytes.size(), change.offset));
    const size_t size = fate == 1 ? change.after.size() : random.Below(change.after.size() + 1);
    Put(change.offset, std::string_view(change.after).substr(0, size));
  }
};

class SimLogFiles::File : public LogFile {
 public:
  File(std::string name, std::shared_ptr<Host> host, std::shared_ptr<Contents> contents)
      : name_(std::move(name)),
        host_(std::move(host)),
        contents_(std::move(contents)),
        process_(host_->process) {}

  StatusOr<uint64_t> Size() const override {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    return uint64_t{contents_->bytes.size()};
  }

  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    NEPTUNE_RETURN_IF_ERROR(CheckWritable(offset));
    contents_->Write(offset, bytes);
    return OkStatus();
  }

  Status Sync() override {
    NEPTUNE_RETURN_IF_ERROR(CheckWritable(0, /*is_sync=*/true));
    NEPTUNE_RETURN_IF_ERROR(host_->faults->BeforeFlush("log file ", name_));
    NEPTUNE_RETURN_IF_ERROR(Annotate(host_->sync_status, StrCat("sync log file ", name_)));
    contents_->changes.clear();
    ++host_->sync_count;
    return OkStatus();
  }

  StatusOr<std::string> ReadAt(uint64_t offset, size_t size) const override {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    NEPTUNE_RETURN_IF_ERROR(host_->faults->BeforeRead("log file ", name_));
    const bool is_readable =
        offset >= contents_->unreadable_to || offset + size <= contents_->unreadable_from;
    if (!is_readable) return Unavailable("read log file ", name_, ": input/output error");
    if (offset >= contents_->bytes.size()) return std::string();
    return contents_->bytes.substr(offset, size);
  }

  Status Truncate(uint64_t size) override {
    NEPTUNE_RETURN_IF_ERROR(CheckWritable(size));
    if (size < contents_->bytes.size()) contents_->Cut(size);
    return OkStatus();
  }

 private:
  Status CheckAlive() const {
    if (host_->process == process_) return OkStatus();
    return Unavailable("log file ", name_, ": the process that opened it has ended");
  }
  Status CheckWritable(uint64_t offset, bool is_sync = false) const {
    NEPTUNE_RETURN_IF_ERROR(CheckAlive());
    if (offset > contents_->bytes.size()) {
      return InvalidArgument("log file ", name_, " ends before ", offset);
    }
    Status status = host_->write_status;
    if (!status.ok()) host_->faults->NoteRefusedWrite();
    if (status.ok()) status = host_->faults->BeforeWrite("", "the disk");
    if (status.ok() && host_->intercept) status = host_->intercept(name_, is_sync);
    return Annotate(status, StrCat("write to log file ", name_));
  }

  const std::string name_;
  const std::shared_ptr<Host> host_;
  const std::shared_ptr<Contents> contents_;
  const int process_;
};

SimLogFiles::SimLogFiles(std::shared_ptr<SimDiskFaults> faults) : host_(std::make_shared<Host>()) {
  if (faults == nullptr) faults = std::make_shared<SimDiskFaults>();
  host_->faults = std::move(faults);
}
SimLogFiles::~SimLogFiles() {
  for (auto& [name, contents] : files_) removed_.push_back(contents);
  EndProcess();
}

StatusOr<std::unique_ptr<LogFile>> SimLogFiles::Open(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  NEPTUNE_RETURN_IF_ERROR(host_->faults->BeforeOpen("log file ", name));
  auto found = files_.find(name);
  if (found == files_.end()) {
    NEPTUNE_RETURN_IF_ERROR(Annotate(host_->write_status, StrCat("create log file ", name)));
    found = files_.emplace(std::string(name), std::make_shared<Contents>()).first;
  }
  return std::make_unique<File>(std::string(name), host_, found->second);
}

Status SimLogFiles::Remove(std::string_view name) {
  NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
  NEPTUNE_RETURN_IF_ERROR(Annotate(host_->write_status, StrCat("remove log file ", name)));
  NEPTUNE_RETURN_IF_ERROR(host_->faults->BeforeWrite("remove log file ", name));
  const auto found = files_.find(name);
  if (found == files_.end()) return OkStatus();
  std::erase_if(removed_, [](const auto& contents) { return contents.expired(); });
  removed_.push_back(found->second);
  files_.erase(found);
  return OkStatus();
}

StatusOr<std::vector<std::string>> SimLogFiles::List() const { return Names(); }

std::vector<std::string> SimLogFiles::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, contents] : files_) names.push_back(name);
  return names;
}

void SimLogFiles::Crash(RandomSource& random) {
  for (auto& [name, contents] : files_) contents->Crash(random);
  EndProcess();
}

void SimLogFiles::EndProcess() {
  ++host_->process;
  host_->faults->NoteCrash();
  // Threads of a killed process are abandoned with the files that they had open.
  for (const std::weak_ptr<Contents>& removed : removed_) {
    if (const std::shared_ptr<Contents> contents = removed.lock()) contents->Erase();
  }
  removed_.clear();
}

void SimLogFiles::FailWrites(Status status) { host_->write_status = std::move(status); }

void SimLogFiles::FailSyncs(Status status) { host_->sync_status = std::move(status); }

void SimLogFiles::Intercept(Interceptor intercept) { host_->intercept = std::move(intercept); }

void SimLogFiles::FlipBit(std::string_view name, uint64_t offset, int bit) {
  const auto found = files_.find(name);
  CHECK(found != files_.end() && offset < found->second->bytes.size()) << name << " " << offset;
  char& byte = found->second->bytes[offset];
  byte = static_cast<char>(byte ^ (1 << bit));
}

std::optional<SimLogFiles::DecayedByte> SimLogFiles::Decay(
    RandomSource& random, const std::function<bool(std::string_view name)>& wanted) {
  constexpr int kBitsPerByte = 8;
  uint64_t size = 0;
  for (const auto& [name, contents] : files_) size += wanted(name) ? contents->durable_size() : 0;
  if (size == 0) return std::nullopt;
  uint64_t offset = random.Below(size);
  const int bit = static_cast<int>(random.Below(kBitsPerByte));
  for (const auto& [name, contents] : files_) {
    const uint64_t durable = wanted(name) ? contents->durable_size() : 0;
    if (offset < durable) {
      FlipBit(name, offset, bit);
      return DecayedByte{name, offset, contents->bytes[offset]};
    }
    offset -= durable;
  }
  LOG(FATAL) << "a byte beyond the last file";
}

bool SimLogFiles::Holds(const DecayedByte& decayed) const {
  const auto found = files_.find(decayed.name);
  return found != files_.end() && decayed.offset < found->second->bytes.size() &&
         found->second->bytes[decayed.offset] == decayed.value;
}

void SimLogFiles::MakeUnreadable(std::string_view name, uint64_t offset, uint64_t size) {
  const auto found = files_.find(name);
  CHECK(found != files_.end()) << name;
  found->second->unreadable_from = offset;
  found->second->unreadable_to = offset + size;
}

std::string SimLogFiles::ContentsOf(std::string_view name) const {
  const auto found = files_.find(name);
  return found == files_.end() ? std::string() : found->second->bytes;
}

void SimLogFiles::Replace(std::string_view name, std::string contents) {
  std::shared_ptr<Contents>& file = files_[std::string(name)];
  if (file == nullptr) file = std::make_shared<Contents>();
  file->bytes = std::move(contents);
  file->changes.clear();
}

uint64_t SimLogFiles::size() const {
  uint64_t size = 0;
  for (const auto& [name, contents] : files_) size += contents->bytes.size();
  return size;
}

uint64_t SimLogFiles::sync_count() const { return host_->sync_count; }

}  // namespace neptune
