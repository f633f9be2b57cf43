// Announcements by way of a folder that every node sees: for nodes of one host, or with a shared folder, where there is
// neither multicast nor an etcd.
//
//   Publish ─► the node's own file, replaced whole
//   once each poll_interval ─► files that say something new ─► handler
//
// The folder only carries announcements; who is there, the listener decides as ever. A goodbye is an announcement that is
// written like others; a file that disappears says nothing, and one that stays after its node's end is not news to
// anybody. So a folder that is lost, emptied or wrong neither adds nor removes anybody: nodes that are not heard are
// probed, and stay if they answer. A newcomer hears the others when they announce themselves the next time.
//
// Source: [Shen02] 2.2 (publish/subscribe channel). Departs from source: the channel is files that are looked at.
// In the real world a helper thread reads and writes; the simulated one has no files of its own, so the
//   operating system's are read and written in place and take no virtual time.
// Threads: the loop's own. Opening reads the folder in place; closing waits for a look or a write that is under way.
// Limits: those of AnnouncementFolder; one look and one write under way, of announcements the latest waits. A look or a
//   write that does not end, as on a shared folder whose server hangs, holds up the folder alone.

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
  // What announcements are sealed with, and have to be; null: they are as they are.
  std::shared_ptr<const ClusterKeys> keys;
  // Longest time between two looks into the folder. Smaller: news are known sooner, more files are read. Default: 1 s.
  Duration poll_interval = std::chrono::seconds(1);
  // At least one thread; null: files are read and written in place.
  std::unique_ptr<HelperThreads> helpers;
  // Fields may be null.
  DirectoryMetrics metrics;
};

// Never fails for the folder being away. `loop` outlives the channel.
// Errors: kInvalidArgument the folder's path is not absolute, or the node's name has a '/'.
StatusOr<std::unique_ptr<AnnouncementChannel>> OpenFileChannel(
    Loop& loop, FileChannelOptions options, AnnouncementChannel::Handler on_message);

}  // namespace neptune
