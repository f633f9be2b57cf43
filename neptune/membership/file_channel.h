// Transports announcements through a folder that all nodes share, on one host or on a shared file
// system, if neither multicast nor etcd is available.
//
//   Publish ─► the node's own file, replaced atomically
//   once per poll_interval ─► files with new content ─► handler
//
// The folder only transports announcements; the listener decides about membership as usual. A
// goodbye is an announcement like any other; the removal of a file has no effect, and a file that
// remains after its node's end is not news. A folder that is unavailable, emptied or corrupted
// therefore neither adds nor removes nodes: silent nodes are probed, and stay if they answer. A new
// node learns of the others by their next announcements.
//
// In the real world a helper thread reads and writes. The simulated world has no files of its own,
// so the operating system's are read and written in place, in zero virtual time.
//
// Source: [Shen02] 2.2 (publish/subscribe channel). Departs from source: the channel is polled
//   files.
// Threads: the channel's loop only. Opening reads the folder in place; closing waits for a poll or
//   write in progress.
// Limits: those of AnnouncementFolder; one poll and one write in progress, and the latest
//   announcement queued. A poll or write that hangs, as on a shared folder whose server hangs,
//   delays the folder only.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "neptune/membership/announcement_channel.h"
#include "neptune/membership/directory_metrics.h"
#include "neptune/security/cluster_key.h"
#include "neptune/world/helper_threads.h"
#include "neptune/world/loop.h"

namespace neptune {

struct FileChannelOptions {
  // An absolute path. Clusters must not share it.
  std::string folder;
  std::string node;
  // Keys with which announcements are sealed and verified; null: announcements are not sealed.
  std::shared_ptr<const ClusterKeys> keys;
  // Maximum time between two polls of the folder. Smaller: changes are detected sooner, more files
  // are read.
  // Default: 1 s.
  Duration poll_interval = std::chrono::seconds(1);
  // At least one thread; null: files are read and written in place.
  std::unique_ptr<HelperThreads> helpers;
  // Fields may be null.
  DirectoryMetrics metrics;
};

// Opens the channel; succeeds even if the folder is unavailable. `loop` outlives the channel.
// Errors: kInvalidArgument the folder's path is not absolute, or the node's name has a '/'.
StatusOr<std::unique_ptr<AnnouncementChannel>> OpenFileChannel(
    Loop& loop, FileChannelOptions options, AnnouncementChannel::Handler on_message);

}  // namespace neptune
