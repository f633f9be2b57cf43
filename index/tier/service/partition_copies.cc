#include "index/tier/service/partition_copies.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "index/tier/registry.h"
#include "index/tier/service/partition_files.h"
#include "index/tier/tier_service.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/thread/synchronization.h"

namespace search::index {

using neptune::Data;
using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;
using neptune::TimePoint;

namespace {

// An empty folder on a disk with room for that many bytes.
Status MakeEmpty(const std::string& directory, uint64_t size) {
  std::error_code error;
  std::filesystem::remove_all(directory, error);
  if (!error) std::filesystem::create_directories(directory, error);
  const auto space =
      error ? std::filesystem::space_info() : std::filesystem::space(directory, error);
  if (error) return neptune::Unavailable("empty ", directory, ": ", error.message());
  if (space.available / 2 >= size) return neptune::OkStatus();
  return neptune::ResourceExhausted(directory, ": a copy of ", size, " bytes would take more than ",
                                    "half of the ", space.available, " that are free");
}

void Remove(const std::string& directory) {
  std::error_code ignored;  // what remains is removed with the next copy
  std::filesystem::remove_all(directory, ignored);
}

Status AppendTo(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (file << bytes << std::flush) return neptune::OkStatus();
  return neptune::Unavailable("cannot write ", path);
}

Status SyncFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return neptune::ErrnoStatus(errno, "open", path);
  const Status synced =
      fsync(file) == 0 ? neptune::OkStatus() : neptune::ErrnoStatus(errno, "sync", path);
  close(file);
  return synced;
}

// Moves the files of the list into the folder, the seal last, and makes that durable.
Status Install(const FilesAnswer& list, const std::string& from, const std::string& into) {
  std::error_code error;
  std::filesystem::create_directories(into, error);
  for (const bool seals : {false, true}) {
    for (const PartitionFile& file : list.files()) {
      if ((file.name() == kTierSealName) != seals) continue;
      const std::string path = neptune::StrCat(from, "/", file.name());
      if (!error) NEPTUNE_RETURN_IF_ERROR(SyncFile(path));
      if (!error) std::filesystem::rename(path, neptune::StrCat(into, "/", file.name()), error);
    }
  }
  if (error) return neptune::Unavailable("install ", into, ": ", error.message());
  return neptune::SyncDirectory(into);
}

}  // namespace

Status PartitionCopies::Start() {
  NEPTUNE_ASSIGN_OR_RETURN(files_loop_,
                           world_.StartLoop({.name = neptune::StrCat(service_, "-copies"),
                                             .priority = neptune::LoopPriority::kBackground}));
  NEPTUNE_ASSIGN_OR_RETURN(thread_, neptune::ThreadScheduler::Current()->Spawn(
                                        [this] {
                                          RunUntilStopped();
                                          has_ended_ = true;
                                          if (stopper_) stopper_->Wake();
                                        },
                                        "partition copies"));
  return neptune::OkStatus();
}

PartitionCopies::~PartitionCopies() = default;

void PartitionCopies::Stop() {
  is_stopping_ = true;
  // If this is not a user-level thread, the node has ended without being stopped: none of its
  // threads runs again.
  if (!thread_ || neptune::UserThread::Current() == nullptr) return;
  stopper_ = neptune::ThreadRef(neptune::UserThread::Current());
  cancellation_.Cancel();
  thread_->Wake();
  while (!has_ended_) neptune::this_thread::ParkUntilWoken();
  thread_ = neptune::ThreadRef();
}

void PartitionCopies::Want(PartitionId partition, Wanted wanted) {
  neptune::LeafLock lock(&mutex_);
  wanted_[partition] = std::move(wanted);
}

void PartitionCopies::RunUntilStopped() {
  while (!is_stopping_) {
    const TimePoint next_look = neptune::this_thread::Now() + kCopyCheckInterval;
    if (neptune::this_thread::Park(next_look) == neptune::ParkResult::kStopping) return;
    if (is_stopping_) return;
    std::optional<std::pair<PartitionId, Wanted>> next;
    {
      neptune::LeafLock lock(&mutex_);
      if (!wanted_.empty()) {
        next = *wanted_.begin();
        wanted_.erase(wanted_.begin());
      }
    }
    if (!next.has_value()) continue;
    const Status copied = Copy(next->first, next->second);
    LOG_IF(INFO, copied.ok()) << service_ << "/" << next->first << " was copied from a replica";
    LOG_IF(WARNING, !copied.ok() && !is_stopping_)
        << "cannot copy " << service_ << "/" << next->first << ": " << copied;
  }
}

Status PartitionCopies::OnFilesLoop(const std::function<Status()>& work) const {
  Status status;
  neptune::OneShotEvent done;
  files_loop_->Post([&] {
    status = work();
    done.Set();
  });
  while (!done.is_set()) neptune::this_thread::ParkUntilWoken();
  return status;
}

StatusOr<FilesAnswer> PartitionCopies::Ask(PartitionId partition, const FilesQuery& query) const {
  const neptune::RequestContext origin({.deadline = neptune::this_thread::Now() + kCopyCallTimeout},
                                       cancellation_.call(), world_);
  neptune::ClientSession session(client_, origin);
  session.default_timeout = kCopyCallTimeout;
  Data response;
  NEPTUNE_RETURN_IF_ERROR(
      neptune::Call(session, {service_, partition, neptune::MethodName(kTierFilesMethod)},
                    Data::Of(query), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const FilesAnswer* const answer, response.As<FilesAnswer>());
  return *answer;
}

Status PartitionCopies::Copy(PartitionId partition, const Wanted& wanted) {
  FilesQuery query;
  query.set_index_version(wanted.list_number);
  NEPTUNE_ASSIGN_OR_RETURN(const FilesAnswer list, Ask(partition, query));
  if (list.index_version() != wanted.index_version) {
    return neptune::FailedPrecondition("the other replica has index version ", list.index_version(),
                                       ", not ", wanted.index_version);
  }
  if (list.files().empty() || list.files_size() > static_cast<int>(kPartitionFilesMax)) {
    return neptune::DataLoss("the other replica lists ", list.files_size(), " files");
  }
  uint64_t size = 0;
  for (const PartitionFile& file : list.files()) size += std::min(file.size(), UINT64_MAX - size);
  const std::string into = neptune::StrCat(wanted.directory, ".copy.", node_);
  NEPTUNE_RETURN_IF_ERROR(OnFilesLoop([&] { return MakeEmpty(into, size); }));
  Status copied = CopyFiles(partition, wanted, list, into);
  if (copied.ok()) {
    copied = OnFilesLoop([&]() -> Status {
      NEPTUNE_RETURN_IF_ERROR(check_(into, wanted.index_version));
      return Install(list, into, wanted.directory);
    });
  }
  return OnFilesLoop([&] {
    Remove(into);
    return copied;
  });
}

Status PartitionCopies::CopyFiles(PartitionId partition, const Wanted& wanted,
                                  const FilesAnswer& list, const std::string& into) {
  for (const PartitionFile& file : list.files()) {
    if (!IsPlainFileName(file.name())) return neptune::DataLoss("the list has a name of no file");
    NEPTUNE_RETURN_IF_ERROR(
        CopyFile(partition, wanted, file, neptune::StrCat(into, "/", file.name())));
  }
  return neptune::OkStatus();
}

Status PartitionCopies::CopyFile(PartitionId partition, const Wanted& wanted,
                                 const PartitionFile& file, const std::string& path) {
  FilesQuery query;
  query.set_index_version(wanted.list_number);
  query.set_name(file.name());
  query.set_size_max(static_cast<uint32_t>(kFilePartSizeMax));
  NEPTUNE_RETURN_IF_ERROR(OnFilesLoop([&] { return AppendTo(path, ""); }));
  while (query.offset() < file.size()) {
    const TimePoint begin = neptune::this_thread::Now();
    NEPTUNE_ASSIGN_OR_RETURN(const FilesAnswer part, Ask(partition, query));
    const size_t size = part.bytes().size();
    if (size == 0 || size > file.size() - query.offset()) {
      return neptune::DataLoss(file.name(), " of the other replica is not as long as it was");
    }
    NEPTUNE_RETURN_IF_ERROR(OnFilesLoop([&] { return AppendTo(path, part.bytes()); }));
    query.set_offset(query.offset() + size);
    const uint64_t wait_ns = uint64_t{1'000'000'000} * size / kCopyBytesPerSecond;
    const TimePoint next = begin + std::chrono::nanoseconds(static_cast<int64_t>(wait_ns));
    if (neptune::this_thread::SleepUntil(next) == neptune::ParkResult::kStopping || is_stopping_) {
      return neptune::Cancelled("the node stops");
    }
  }
  return neptune::OkStatus();
}

}  // namespace search::index
