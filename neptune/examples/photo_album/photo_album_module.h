// The photo album: who owns which pictures. The pictures' images are another service's, which its methods call.
//
//   CreateAlbum      CreateAlbumRequest → Album; a write
//   ViewAlbum        ViewAlbumRequest → AlbumPage
//   AddPicture       AddPictureRequest → Picture; a write ──► StoreImage
//   ViewPicture      ViewPictureRequest → PictureWithImage ──► ReadImage
//   ViewThumbnails   ViewAlbumRequest → ThumbnailPage ──► ReadThumbnails, of all its partitions at once
//   DeletePicture    DeletePictureRequest → DeletePictureResult; a write ──► DeleteImages
//   Reclaim          ReclaimRequest → ReclaimResult; a write ──► DeleteImages
//
// Callers use ReplicaSession for all of them. A replicated write must not wait for another service, so AddPicture,
// DeletePicture and Reclaim are methods of their own that call writes of this service (album_store.h) and of the image store, on
// any replica; their caller's session learns the version that they made. An image has the name of the AddPicture that
// brought it, and each write on its behalf a name that follows from it: asked for again, it is done once.
//
// What a method calls has its request's class, trace and the rest of its deadline, and ends with it.
//
// Parameters of the service:
//   partition_count         as the service has it; albums of other partitions are refused. Default: 1.
//   image_partition_count   as the image store has it. Default: 1.
//
// Source: [Shen02] 2.1, figure 2.2. Threads: as ServiceModule says.
// Errors: those of album_store.h and image_store.h; kInvalidArgument an album of another partition, malformed requests;
//   kUnavailable and kDeadlineExceeded the partition of an image is away. Of ViewThumbnails not the latter: it says which
//   are.
// Limits: album_store.h; kAddTimeMax, kThumbnailTimeMax, kReclaimTimeMax for what is called.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/examples/photo_album/album_store.h"
#include "neptune/examples/photo_album/image_client.h"
#include "neptune/replication/replicated_service.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune::examples::photo_album {

inline constexpr char kPhotoAlbumService[] = "photo_album";
inline constexpr char kCreateAlbumMethod[] = "CreateAlbum";
inline constexpr char kViewAlbumMethod[] = "ViewAlbum";
inline constexpr char kAddPictureMethod[] = "AddPicture";
inline constexpr char kViewPictureMethod[] = "ViewPicture";
inline constexpr char kViewThumbnailsMethod[] = "ViewThumbnails";
inline constexpr char kDeletePictureMethod[] = "DeletePicture";
inline constexpr char kReclaimMethod[] = "Reclaim";

// Well below kPendingTime.
inline constexpr Duration kAddTimeMax = std::chrono::minutes(1);
// And three quarters of what the request has left: the page is worth more than the last thumbnail.
inline constexpr Duration kThumbnailTimeMax = std::chrono::milliseconds(500);
// Of a DeletePicture, which is done before.
inline constexpr Duration kReclaimTimeMax = std::chrono::milliseconds(250);

class PhotoAlbumModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "photo_album"; }
  void Stop() override { service_.reset(); }

 private:
  // What a method does on behalf of its request.
  struct Behalf {
    RequestContext& context;
    ReplicaSession session;
    ReplicaReport report;  // of the last write of this service
  };
  struct Reclaimed {
    std::vector<ImageId> found;
    std::vector<ImageId> deleted;
  };

  Status ReadParameters(const ModuleContext& context);
  void AddReplicatedMethods();
  void AddCallingMethods(ServiceRegistrar& registrar);
  template <typename Request, typename Answer>
  void AddAlbumWrite(const char* method,
                     StatusOr<Answer> (*write)(const WriteContext&, const Request&));
  Status CheckAlbum(uint64_t album, PartitionId partition) const;

  Behalf BehalfOf(RequestContext& context) const;
  // A write of this service, in the request's own partition.
  template <typename Answer, typename Request>
  StatusOr<Answer> WriteHere(Behalf& behalf, const char* method, const Request& request,
                             const ReplicaCallOptions& options) const;
  // The caller's session takes the method for the write that it ended with.
  static void PassOn(const Behalf& behalf);

  StatusOr<Picture> AddPicture(RequestContext& context, const AddPictureRequest& request) const;
  StatusOr<DeletePictureResult> DeletePicture(RequestContext& context,
                                              const DeletePictureRequest& request) const;
  StatusOr<ReclaimResult> Reclaim(RequestContext& context, const ReclaimRequest& request) const;
  StatusOr<Reclaimed> ReclaimUntil(Behalf& behalf, TimePoint deadline) const;
  StatusOr<PictureWithImage> ViewPicture(const StoreView& store, RequestContext& context,
                                         const ViewPictureRequest& request) const;
  StatusOr<ThumbnailPage> ViewThumbnails(const StoreView& store, RequestContext& context,
                                         const ViewAlbumRequest& request) const;

  Client* client_ = nullptr;  // set by Start
  ServiceName name_;
  uint32_t partition_count_ = 1;
  std::unique_ptr<const ImageClient> images_;
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune::examples::photo_album
