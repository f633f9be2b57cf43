// The image store as a service calls it on behalf of its own requests.
//
// A replica that does not have an image may be behind: then its partition's primary is asked, whose answer is final. So reads
// go on while a partition has any replica, and only an image that a replica does not know needs a majority.
//
// Source: [Shen02] 2.1, 2.4 (each photo album instance locates an image store instance through its node).
// Threads: thread-safe; calls on user-level threads.
// Errors: those of image_store_module.h and of ReplicaSession.
// Limits: kImagesAtOnceMax images at once.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/examples/photo_album/image_store.h"
#include "neptune/replication/replica_session.h"

namespace neptune::examples::photo_album {

inline constexpr char kImageStoreService[] = "image_store";

struct FoundThumbnails {
  // One for each image that was asked for; absent: its partition did not answer.
  std::vector<std::optional<Thumbnail>> thumbnails;
  std::vector<uint32_t> missing_partitions;
};

class ImageClient {
 public:
  // REQUIRES: partition_count > 0.
  explicit ImageClient(uint32_t partition_count) : partition_count_(partition_count) {}

  // `name` is the write's, so that it may be asked for again.
  Status Store(ReplicaSession& session, const StoreImageRequest& request, const RequestId& name,
               TimePoint deadline) const;
  StatusOr<Image> Read(ReplicaSession& session, const ImageId& id) const;
  // Of several partitions at once.
  FoundThumbnails ReadThumbnails(const ClientSession& session, const std::vector<ImageId>& ids,
                                 TimePoint deadline) const;
  // Of several partitions at once. Returns those that are not there any more.
  std::vector<ImageId> Delete(const ClientSession& session, const std::vector<ImageId>& ids,
                              TimePoint deadline) const;

 private:
  const uint32_t partition_count_;
};

}  // namespace neptune::examples::photo_album
