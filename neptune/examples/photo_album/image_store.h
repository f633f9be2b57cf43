// Images and their thumbnails in a partition's store.
//
//   i CLIENT NUMBER   bytes of the image
//   t CLIENT NUMBER   bytes of its thumbnail, possibly empty; exists if the image does
//   n                 ImageTotals
//
// CLIENT and NUMBER, an image's id, are numbers of 8 bytes, big-endian.
//
// Source: [Shen02] 2.1, figure 2.2 (image store).
// Threads: pure functions of the store.
// Errors: kNotFound no such image; kInvalidArgument an image, thumbnail or request exceeds a limit;
//   kFailedPrecondition another image has the id; kResourceExhausted the partition is full; those
//   of the store.
// Limits: the constants below, ImageStoreLimits.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/examples/photo_album/image_store.pb.h"
#include "neptune/replication/state/store_state.h"

namespace neptune::examples::photo_album {

inline constexpr size_t kImageSizeMax = 1u << 20;
inline constexpr size_t kThumbnailSizeMax = 16u << 10;
inline constexpr int kImagesAtOnceMax = 100;  // in a request

struct ImageStoreLimits {
  // Bytes of all images and thumbnails of a partition; the same on every node.
  uint64_t size_max = uint64_t{1} << 30;
};

// Returns OK if a store accepts the image.
Status CheckImage(const StoreImageRequest& request);
uint32_t PartitionOfImage(const ImageId& id, uint32_t partition_count);

StatusOr<Image> ReadImage(const StoreView& store, const ReadImageRequest& request);
StatusOr<Thumbnails> ReadThumbnails(const StoreView& store, const ReadThumbnailsRequest& request);
// The following are writes. The same image may be stored again under its id.
StatusOr<StoreImageResult> StoreImage(const WriteContext& write, const ImageStoreLimits& limits,
                                      const StoreImageRequest& request);
// Images that do not exist are not an error.
StatusOr<DeleteImagesResult> DeleteImages(const WriteContext& write,
                                          const DeleteImagesRequest& request);

}  // namespace neptune::examples::photo_album
