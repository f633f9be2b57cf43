#include "neptune/examples/photo_album/image_store_module.h"

#include "neptune/examples/photo_album/typed_methods.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples::photo_album {

void ImageStoreModule::DeclareParameters(ParameterTable& table) {
  table.Whole("partition_count", {1, UINT32_MAX}, &partition_count_,
              "partitions of the service; images of other partitions are refused");
  table.Whole("size_mb", {1, 1u << 20}, &size_mb_,
              "images of a partition, in MiB; the same on every node");
}

Status ImageStoreModule::Start(ModuleContext& context) {
  limits_.size_max = size_mb_ << 20;
  service_ = std::make_unique<ReplicatedService>(context);
  AddMethods();
  return service_->Open();
}

Status ImageStoreModule::CheckPartition(const ImageId& id, PartitionId partition) const {
  const uint32_t of_image = PartitionOfImage(id, partition_count_);
  if (of_image == partition.value()) return OkStatus();
  return InvalidArgument("the image is in partition ", of_image, ", not ", partition);
}

template <typename Request>
Status ImageStoreModule::CheckPartitions(const Request& request, PartitionId partition) const {
  for (const ImageId& id : request.ids()) {
    NEPTUNE_RETURN_IF_ERROR(CheckPartition(id, partition));
  }
  return OkStatus();
}

void ImageStoreModule::AddMethods() {
  AddRead<ReadImageRequest, Image>(
      *service_, kReadImageMethod,
      [this](const StoreView& store, RequestContext& context,
             const ReadImageRequest& request) -> StatusOr<Image> {
        NEPTUNE_RETURN_IF_ERROR(CheckPartition(request.id(), context.partition()));
        return ReadImage(store, request);
      });
  AddRead<ReadThumbnailsRequest, Thumbnails>(
      *service_, kReadThumbnailsMethod,
      [this](const StoreView& store, RequestContext& context,
             const ReadThumbnailsRequest& request) -> StatusOr<Thumbnails> {
        NEPTUNE_RETURN_IF_ERROR(CheckPartitions(request, context.partition()));
        return ReadThumbnails(store, request);
      });
  AddWrite<StoreImageRequest, StoreImageResult>(
      *service_, kStoreImageMethod,
      [this](const WriteContext& write,
             const StoreImageRequest& request) -> StatusOr<StoreImageResult> {
        NEPTUNE_RETURN_IF_ERROR(CheckPartition(request.id(), write.partition));
        return StoreImage(write, limits_, request);
      });
  AddWrite<DeleteImagesRequest, DeleteImagesResult>(
      *service_, kDeleteImagesMethod,
      [this](const WriteContext& write,
             const DeleteImagesRequest& request) -> StatusOr<DeleteImagesResult> {
        NEPTUNE_RETURN_IF_ERROR(CheckPartitions(request, write.partition));
        return DeleteImages(write, request);
      });
}

}  // namespace neptune::examples::photo_album
