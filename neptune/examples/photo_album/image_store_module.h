// The image store: images of other services, in partitions, each on several nodes.
//
//   ReadImage        ReadImageRequest → Image
//   ReadThumbnails   ReadThumbnailsRequest → Thumbnails
//   StoreImage       StoreImageRequest → StoreImageResult; a write
//   DeleteImages     DeleteImagesRequest → DeleteImagesResult; a write
//
// An image never changes, so a read at any replica is correct or reports that there is no image; a
// caller that knows better repeats it with a staleness of 0. Consistency level ordered_writes.
//
// Source: [Shen02] 2.1, figure 2.2.
// Threads: see ServiceModule.
// Errors: those of image_store.h; kInvalidArgument an image of another partition, a malformed
//   request.
// Limits: image_store.h.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/photo_album/image_store.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace neptune::examples::photo_album {

inline constexpr char kReadImageMethod[] = "ReadImage";
inline constexpr char kReadThumbnailsMethod[] = "ReadThumbnails";
inline constexpr char kStoreImageMethod[] = "StoreImage";
inline constexpr char kDeleteImagesMethod[] = "DeleteImages";

class ImageStoreModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "image_store"; }
  void Stop() override { service_.reset(); }

 private:
  Status CheckPartition(const ImageId& id, PartitionId partition) const;
  template <typename Request>
  Status CheckPartitions(const Request& request, PartitionId partition) const;
  void AddMethods();

  // Parameters, fixed before Start.
  uint32_t partition_count_ = 1;
  uint64_t size_mb_ = 1024;

  ImageStoreLimits limits_;
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune::examples::photo_album
