// The photo album: albums, owners and pictures. The pictures' images belong to another service,
// which its methods call.
//
//   CreateAlbum      CreateAlbumRequest → Album; a write
//   ViewAlbum        ViewAlbumRequest → AlbumPage
//   AddPicture       AddPictureRequest → Picture; a write ──► StoreImage
//   ViewPicture      ViewPictureRequest → PictureWithImage ──► ReadImage
//   ViewThumbnails   ViewAlbumRequest → ThumbnailPage ──► ReadThumbnails, partitions in parallel
//   DeletePicture    DeletePictureRequest → DeletePictureResult; a write ──► DeleteImages
//   Reclaim          ReclaimRequest → ReclaimResult; a write ──► DeleteImages
//
// Callers use ReplicaSession for all methods. A replicated write must not wait for another service.
// AddPicture, DeletePicture and Reclaim are therefore separate methods, on any replica, that call
// writes of this service (album_store.h) and of the image store; their caller's session learns the
// version they created. An image's id is that of its AddPicture, and each write for it has an id
// derived from that one, so a repeated write is executed once.
//
// Nested calls inherit the request's class, trace and remaining deadline, and end with it.
//
// Source: [Shen02] 2.1, figure 2.2.
// Threads: see ServiceModule.
// Errors: those of album_store.h and image_store.h; kInvalidArgument an album of another partition,
//   a malformed request; kUnavailable and kDeadlineExceeded an image's partition does not answer,
//   except for ViewThumbnails, whose answer lists such partitions.
// Limits: album_store.h; kAddTimeMax, kThumbnailTimeMax, kReclaimTimeMax for nested calls.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "neptune/examples/photo_album/album_store.h"
#include "neptune/examples/photo_album/image_client.h"
#include "neptune/replication/agent/replicated_service.h"
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

// Must be well below kPendingTime.
inline constexpr Duration kAddTimeMax = std::chrono::minutes(1);
// The limit is also three quarters of the request's remaining time: the page is worth more than the
// last thumbnail.
inline constexpr Duration kThumbnailTimeMax = std::chrono::milliseconds(500);
// Limit for the cleanup in DeletePicture, whose own write is complete by then.
inline constexpr Duration kReclaimTimeMax = std::chrono::milliseconds(250);

class PhotoAlbumModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "photo_album"; }
  void Stop() override { service_.reset(); }

 private:
  // State of a method during its request.
  struct Behalf {
    RequestContext& context;
    ReplicaSession session;
    ReplicaReport report;  // for the last write to this service
  };
  struct Reclaimed {
    std::vector<ImageId> found;
    std::vector<ImageId> deleted;
  };

  void AddReplicatedMethods();
  void AddCallingMethods(ServiceRegistrar& registrar);
  template <typename Request, typename Answer>
  void AddAlbumWrite(const char* method,
                     StatusOr<Answer> (*write)(const WriteContext&, const Request&));
  Status CheckAlbum(uint64_t album, PartitionId partition) const;

  Behalf BehalfOf(RequestContext& context) const;
  // Executes a write of this service, in the request's own partition.
  template <typename Answer, typename Request>
  StatusOr<Answer> WriteHere(Behalf& behalf, const char* method, const Request& request,
                             const ReplicaCallOptions& options) const;
  // Makes the caller's session treat the method as the last write it made.
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

  // Parameters, fixed before Start.
  uint32_t partition_count_ = 1;
  uint32_t image_partition_count_ = 1;

  Client* client_ = nullptr;  // set by Start
  ServiceName name_;
  std::unique_ptr<const ImageClient> images_;
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune::examples::photo_album
