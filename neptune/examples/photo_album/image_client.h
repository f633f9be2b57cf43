// Client of the image store for services.
//
// A replica without the image may be stale; then the partition's primary is asked, and its answer
// is final. So reads succeed while a partition has any replica, and only an image unknown to the
// replica needs a majority.
//
// Source: [Shen02] 2.1, 2.4 (each photo album instance locates an image store instance through its
//   node).
// Threads: thread-safe; calls on user-level threads.
// Errors: those of image_store_module.h and of ReplicaSession.
// Limits: kImagesAtOnceMax images at once.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/examples/photo_album/image_store.h"
#include "neptune/replication/client/replica_session.h"

namespace neptune::examples::photo_album {

inline constexpr char kImageStoreService[] = "image_store";

struct FoundThumbnails {
  // One for each requested image; nullopt: its partition did not answer.
  std::vector<std::optional<Thumbnail>> thumbnails;
  std::vector<uint32_t> missing_partitions;
};

class ImageClient {
 public:
  // REQUIRES: partition_count > 0.
  explicit ImageClient(uint32_t partition_count) : partition_count_(partition_count) {}

  // `name` is the id of the write, so that a repeated call is executed once.
  Status Store(ReplicaSession& session, const StoreImageRequest& request, const RequestId& name,
               TimePoint deadline) const;
  StatusOr<Image> Read(ReplicaSession& session, const ImageId& id) const;
  // Reads from several partitions in parallel.
  FoundThumbnails ReadThumbnails(const ClientSession& session, const std::vector<ImageId>& ids,
                                 TimePoint deadline) const;
  // Deletes in several partitions in parallel. Returns the images that no longer exist.
  std::vector<ImageId> Delete(const ClientSession& session, const std::vector<ImageId>& ids,
                              TimePoint deadline) const;

 private:
  const uint32_t partition_count_;
};

}  // namespace neptune::examples::photo_album
