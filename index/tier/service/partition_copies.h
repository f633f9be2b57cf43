// Copies the files of damaged partitions from another replica, into the folder where they were.
//
//   Want ──► list of files ──► parts of 256 KiB, file by file ──► NAME.copy.NODE, beside the folder
//              another replica: this one is not announced     └─ opened, all checksums, renamed
//
// Only complete copies that open, and are of the wanted version, reach the folder; they replace its
// files one by one, the seal last. The owner tries to open the partition again meanwhile.
//
// For folders that the node may write. Nodes that share a folder may copy at the same time: each
// into a folder of its own, and what they rename is the same.
//
// Threads: Start and Stop on the node's main thread, whose user-level thread makes the calls; Want
//   on any. Files are written on a loop of low priority of its own.
// Errors: those of calls and files end the copy and are logged; it is made again when it is wanted
//   again.
// Limits: one copy at a time, kCopyBytesPerSecond, kPartitionFilesMax files.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "index/tier/files.pb.h"
#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/cancellation.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/loop.h"

namespace search::index {

inline constexpr neptune::Duration kCopyCheckInterval = std::chrono::seconds(1);
inline constexpr size_t kCopyBytesPerSecond = 64u << 20;
inline constexpr neptune::Duration kCopyCallTimeout = std::chrono::seconds(5);

class PartitionCopies {
 public:
  struct Wanted {
    uint64_t list_number = 0;    // of the version, as requests name it; 0: the current one
    uint64_t index_version = 0;  // that the copy must have
    std::string directory;
  };
  // Opens the folder with all checksums. OK: it is a partition of that index version.
  using Check =
      std::function<neptune::Status(const std::string& directory, uint64_t index_version)>;

  PartitionCopies(const neptune::ModuleContext& context, Check check)
      : client_(context.client),
        world_(context.world),
        service_(context.service),
        node_(context.node.value()),
        check_(std::move(check)) {}
  // REQUIRES: it was not started, Stop has returned, or the node's threads no longer run.
  ~PartitionCopies();
  // Copies what is wanted from now on.
  neptune::Status Start();
  // Cancels the copy under way; parks until nothing of it runs. Idempotent.
  void Stop();

  // Replaces what was wanted of the partition before.
  void Want(neptune::PartitionId partition, Wanted wanted);

 private:
  void RunUntilStopped();
  neptune::Status Copy(neptune::PartitionId partition, const Wanted& wanted);
  neptune::Status CopyFiles(neptune::PartitionId partition, const Wanted& wanted,
                            const FilesAnswer& list, const std::string& into);
  neptune::Status CopyFile(neptune::PartitionId partition, const Wanted& wanted,
                           const PartitionFile& file, const std::string& path);
  neptune::StatusOr<FilesAnswer> Ask(neptune::PartitionId partition, const FilesQuery& query) const;
  // Runs `work` on the loop of files, and parks meanwhile.
  neptune::Status OnFilesLoop(const std::function<neptune::Status()>& work) const;

  neptune::Client& client_;
  neptune::World& world_;
  const neptune::ServiceName service_;
  const std::string node_;
  const Check check_;
  neptune::Loop* files_loop_ = nullptr;  // fixed by Start
  neptune::Cancellation cancellation_;
  neptune::ThreadRef thread_;
  neptune::ThreadRef stopper_;
  bool is_stopping_ = false;
  bool has_ended_ = false;

  neptune::LeafMutex mutex_;
  std::map<neptune::PartitionId, Wanted> wanted_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::index
