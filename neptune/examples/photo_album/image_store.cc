#include "neptune/examples/photo_album/image_store.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/examples/photo_album/keys.h"
#include "neptune/replication/state/stored_message.h"

namespace neptune::examples::photo_album {
namespace {

constexpr char kTotalsKey[] = "n";

std::string ImageKey(const ImageId& id) { return IdKey('i', id); }
std::string ThumbnailKey(const ImageId& id) { return IdKey('t', id); }

StatusOr<ImageTotals> ReadTotals(const StoreView& store) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto totals, FindStored<ImageTotals>(store, kTotalsKey));
  return totals.value_or(ImageTotals());
}

Status CheckCount(int count) {
  if (count <= kImagesAtOnceMax) return OkStatus();
  return InvalidArgument(count, " images at once, limit ", kImagesAtOnceMax);
}

}  // namespace

Status CheckImage(const StoreImageRequest& request) {
  if (request.image().empty() || request.image().size() > kImageSizeMax) {
    return InvalidArgument("the image has ", request.image().size(), " bytes, expected 1 to ",
                           kImageSizeMax);
  }
  if (request.thumbnail().size() <= kThumbnailSizeMax) return OkStatus();
  return InvalidArgument("the thumbnail has ", request.thumbnail().size(), " bytes, limit ",
                         kThumbnailSizeMax);
}

uint32_t PartitionOfImage(const ImageId& id, uint32_t partition_count) {
  return static_cast<uint32_t>(Checksum64(ImageKey(id)) % partition_count);
}

StatusOr<Image> ReadImage(const StoreView& store, const ReadImageRequest& request) {
  NEPTUNE_ASSIGN_OR_RETURN(auto bytes, store.Get(ImageKey(request.id())));
  if (!bytes) return NotFound("no image ", NameOf(request.id()));
  Image image;
  image.set_image(*std::move(bytes));
  return image;
}

StatusOr<Thumbnails> ReadThumbnails(const StoreView& store, const ReadThumbnailsRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckCount(request.ids_size()));
  Thumbnails answer;
  for (const ImageId& id : request.ids()) {
    NEPTUNE_ASSIGN_OR_RETURN(auto bytes, store.Get(ThumbnailKey(id)));
    Thumbnail& thumbnail = *answer.add_thumbnails();
    thumbnail.set_is_there(bytes.has_value());
    if (bytes) thumbnail.set_thumbnail(*std::move(bytes));
  }
  return answer;
}

StatusOr<StoreImageResult> StoreImage(const WriteContext& write, const ImageStoreLimits& limits,
                                      const StoreImageRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckImage(request));
  NEPTUNE_ASSIGN_OR_RETURN(ImageTotals totals, ReadTotals(write.store));
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept, write.store.Get(ImageKey(request.id())));
  if (kept && *kept != request.image()) {
    return FailedPrecondition("another image is stored as ", NameOf(request.id()));
  }
  if (!kept) {
    totals.set_image_count(totals.image_count() + 1);
    totals.set_size(totals.size() + request.image().size() + request.thumbnail().size());
    if (totals.size() > limits.size_max) {
      return ResourceExhausted("partition ", write.partition, " has no room for ",
                               request.image().size(), " bytes");
    }
    write.changes.Put(ImageKey(request.id()), request.image());
    write.changes.Put(ThumbnailKey(request.id()), request.thumbnail());
    write.changes.Put(kTotalsKey, totals.SerializeAsString());
  }
  StoreImageResult result;
  result.set_image_count(totals.image_count());
  result.set_size(totals.size());
  return result;
}

StatusOr<DeleteImagesResult> DeleteImages(const WriteContext& write,
                                          const DeleteImagesRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckCount(request.ids_size()));
  NEPTUNE_ASSIGN_OR_RETURN(ImageTotals totals, ReadTotals(write.store));
  DeleteImagesResult result;
  std::set<std::string> seen;
  for (const ImageId& id : request.ids()) {
    if (!seen.insert(ImageKey(id)).second) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const auto image, write.store.Get(ImageKey(id)));
    NEPTUNE_ASSIGN_OR_RETURN(const auto thumbnail, write.store.Get(ThumbnailKey(id)));
    if (!image || !thumbnail) continue;
    write.changes.Delete(ImageKey(id));
    write.changes.Delete(ThumbnailKey(id));
    totals.set_image_count(totals.image_count() - 1);
    totals.set_size(totals.size() - image->size() - thumbnail->size());
    result.set_deleted_count(result.deleted_count() + 1);
  }
  write.changes.Put(kTotalsKey, totals.SerializeAsString());
  return result;
}

}  // namespace neptune::examples::photo_album
