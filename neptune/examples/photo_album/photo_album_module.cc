#include "neptune/examples/photo_album/photo_album_module.h"

#include <algorithm>
#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/examples/photo_album/keys.h"
#include "neptune/examples/photo_album/typed_methods.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples::photo_album {
namespace {

// Writes of the service that only the service itself calls.
constexpr char kBeginPictureMethod[] = "BeginPicture";
constexpr char kCommitPictureMethod[] = "CommitPicture";
constexpr char kRemovePictureMethod[] = "RemovePicture";
constexpr char kClaimUnusedMethod[] = "ClaimUnused";
constexpr char kForgetImagesMethod[] = "ForgetImages";

enum class Step : uint64_t { kBegin = 1, kStore = 2, kCommit = 3, kRemove = 4 };

// Returns the id of one of the writes that are done for the write `whole`.
RequestId NameOfStep(const RequestId& whole, Step step) {
  std::string client;
  AppendBigEndian(&client, whole.client);
  return {Checksum64(client, static_cast<uint64_t>(step)) | 1, whole.number};
}

StatusOr<RequestId> NameOfWrite(const RequestContext& context) {
  ReplicaDemand demand;
  if (!context.extension().empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(demand, DecodeReplicaDemand(context.extension()));
  }
  if (demand.id.given()) return demand.id;
  return InvalidArgument("the write has no id; use ReplicaSession, which assigns one");
}

TimePoint Within(const RequestContext& context, Duration time_max) {
  return std::min(context.deadline(), context.Now() + time_max);
}

template <typename Request, typename Answer>
MethodFunction TypedMethod(
    std::function<StatusOr<Answer>(RequestContext&, const Request&)> method) {
  return
      [method = std::move(method)](RequestContext& context, const Data& request, Data* response) {
        NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<Request>());
        NEPTUNE_ASSIGN_OR_RETURN(Answer answer, method(context, *asked));
        *response = Data::Of(std::move(answer));
        return OkStatus();
      };
}

}  // namespace

void PhotoAlbumModule::DeclareParameters(ParameterTable& table) {
  table.Whole("partition_count", {1, UINT32_MAX}, &partition_count_,
              "partitions of the service; albums of other partitions are refused");
  table.Whole("image_partition_count", {1, UINT32_MAX}, &image_partition_count_,
              "partitions of the image store");
}

Status PhotoAlbumModule::Start(ModuleContext& context) {
  images_ = std::make_unique<const ImageClient>(image_partition_count_);
  client_ = &context.client;
  name_ = context.service;
  service_ = std::make_unique<ReplicatedService>(context);
  AddReplicatedMethods();
  AddCallingMethods(context.registrar);
  return service_->Open();
}

Status PhotoAlbumModule::CheckAlbum(uint64_t album, PartitionId partition) const {
  if (album % partition_count_ == partition.value()) return OkStatus();
  return InvalidArgument("album ", album, " is in partition ", album % partition_count_, ", not ",
                         partition);
}

template <typename Request, typename Answer>
void PhotoAlbumModule::AddAlbumWrite(const char* method,
                                     StatusOr<Answer> (*write)(const WriteContext&,
                                                               const Request&)) {
  AddWrite<Request, Answer>(
      *service_, method,
      [this, write](const WriteContext& context, const Request& request) -> StatusOr<Answer> {
        NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition));
        return write(context, request);
      });
}

void PhotoAlbumModule::AddReplicatedMethods() {
  AddRead<ViewAlbumRequest, AlbumPage>(
      *service_, kViewAlbumMethod,
      [this](const StoreView& store, RequestContext& context,
             const ViewAlbumRequest& request) -> StatusOr<AlbumPage> {
        NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition()));
        return ReadAlbum(store, request);
      });
  AddRead<ViewPictureRequest, PictureWithImage>(
      *service_, kViewPictureMethod,
      [this](const StoreView& store, RequestContext& context, const ViewPictureRequest& request) {
        return ViewPicture(store, context, request);
      });
  AddRead<ViewAlbumRequest, ThumbnailPage>(
      *service_, kViewThumbnailsMethod,
      [this](const StoreView& store, RequestContext& context, const ViewAlbumRequest& request) {
        return ViewThumbnails(store, context, request);
      });
  AddWrite<CreateAlbumRequest, Album>(
      *service_, kCreateAlbumMethod,
      [this](const WriteContext& write, const CreateAlbumRequest& request) {
        return CreateAlbum(write, partition_count_, request);
      });
  AddAlbumWrite(kBeginPictureMethod, BeginPicture);
  AddAlbumWrite(kCommitPictureMethod, CommitPicture);
  AddAlbumWrite(kRemovePictureMethod, RemovePicture);
  AddWrite<ClaimUnusedRequest, UnusedImages>(*service_, kClaimUnusedMethod, ClaimUnused);
  AddWrite<ForgetImagesRequest, ForgetImagesResult>(*service_, kForgetImagesMethod, ForgetImages);
}

void PhotoAlbumModule::AddCallingMethods(ServiceRegistrar& registrar) {
  const MethodOptions write{
      .access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false};
  registrar.Method(MethodName(kAddPictureMethod), write,
                   TypedMethod<AddPictureRequest, Picture>(
                       [this](RequestContext& context, const AddPictureRequest& request) {
                         return AddPicture(context, request);
                       }));
  registrar.Method(MethodName(kDeletePictureMethod), write,
                   TypedMethod<DeletePictureRequest, DeletePictureResult>(
                       [this](RequestContext& context, const DeletePictureRequest& request) {
                         return DeletePicture(context, request);
                       }));
  registrar.Method(MethodName(kReclaimMethod), write,
                   TypedMethod<ReclaimRequest, ReclaimResult>(
                       [this](RequestContext& context, const ReclaimRequest& request) {
                         return Reclaim(context, request);
                       }));
}

PhotoAlbumModule::Behalf PhotoAlbumModule::BehalfOf(RequestContext& context) const {
  return {context, ReplicaSession(ClientSession(*client_, context)), {}};
}

template <typename Answer, typename Request>
StatusOr<Answer> PhotoAlbumModule::WriteHere(Behalf& behalf, const char* method,
                                             const Request& request,
                                             const ReplicaCallOptions& options) const {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(behalf.session.Call(
      {name_, behalf.context.partition(), MethodName(method), AccessMode::kWrite},
      Data::Of(request), &response, options, &behalf.report));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

void PhotoAlbumModule::PassOn(const Behalf& behalf) {
  if (behalf.report.was_served) {
    behalf.context.set_answer_extension(EncodeReplicaReport(behalf.report));
  }
}

StatusOr<Picture> PhotoAlbumModule::AddPicture(RequestContext& context,
                                               const AddPictureRequest& request) const {
  NEPTUNE_ASSIGN_OR_RETURN(const RequestId name, NameOfWrite(context));
  NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition()));
  StoreImageRequest image;
  image.mutable_id()->set_client(name.client);
  image.mutable_id()->set_number(name.number);
  image.set_image(request.image());
  image.set_thumbnail(request.thumbnail());
  NEPTUNE_RETURN_IF_ERROR(CheckImage(image));
  Behalf behalf = BehalfOf(context);
  const TimePoint deadline = Within(context, kAddTimeMax);

  BeginPictureRequest begin;
  begin.set_album_id(request.album_id());
  begin.set_title(request.title());
  *begin.mutable_image() = image.id();
  const auto begun =
      WriteHere<BeginPictureResult>(behalf, kBeginPictureMethod, begin,
                                    {.deadline = deadline, .id = NameOfStep(name, Step::kBegin)});
  if (!begun.ok()) {
    PassOn(behalf);
    return begun.status();
  }
  // The error carries no version, so the caller's session retries while it has time.
  NEPTUNE_RETURN_IF_ERROR(
      images_->Store(behalf.session, image, NameOfStep(name, Step::kStore), deadline));

  CommitPictureRequest commit;
  commit.set_album_id(request.album_id());
  commit.set_title(request.title());
  *commit.mutable_image() = image.id();
  commit.set_size(request.image().size());
  auto picture = WriteHere<Picture>(behalf, kCommitPictureMethod, commit,
                                    {.deadline = deadline, .id = NameOfStep(name, Step::kCommit)});
  PassOn(behalf);
  return picture;
}

StatusOr<DeletePictureResult> PhotoAlbumModule::DeletePicture(
    RequestContext& context, const DeletePictureRequest& request) const {
  NEPTUNE_ASSIGN_OR_RETURN(const RequestId name, NameOfWrite(context));
  NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition()));
  Behalf behalf = BehalfOf(context);
  RemovePictureRequest remove;
  remove.set_album_id(request.album_id());
  remove.set_picture_id(request.picture_id());
  const auto removed = WriteHere<Picture>(behalf, kRemovePictureMethod, remove,
                                          {.id = NameOfStep(name, Step::kRemove)});
  PassOn(behalf);
  if (!removed.ok()) return removed.status();
  // The picture is deleted, whatever happens to the image: it is recorded as unused.
  const auto reclaimed = ReclaimUntil(behalf, Within(context, kReclaimTimeMax));
  const auto is_it = [&](const ImageId& id) {
    return id.client() == removed->image().client() && id.number() == removed->image().number();
  };
  const auto is_in = [&](const std::vector<ImageId>& ids) {
    return std::any_of(ids.begin(), ids.end(), is_it);
  };
  DeletePictureResult result;
  // If it was not found, another request has deleted it.
  result.set_image_waits(!reclaimed.ok() || is_in(reclaimed->found) > is_in(reclaimed->deleted));
  return result;
}

StatusOr<ReclaimResult> PhotoAlbumModule::Reclaim(RequestContext& context,
                                                  const ReclaimRequest&) const {
  Behalf behalf = BehalfOf(context);
  const auto reclaimed = ReclaimUntil(behalf, Within(context, kReclaimTimeMax));
  PassOn(behalf);
  if (!reclaimed.ok()) return reclaimed.status();
  ReclaimResult result;
  result.set_deleted_count(static_cast<uint32_t>(reclaimed->deleted.size()));
  result.set_left_count(static_cast<uint32_t>(reclaimed->found.size()) - result.deleted_count());
  return result;
}

StatusOr<PhotoAlbumModule::Reclaimed> PhotoAlbumModule::ReclaimUntil(Behalf& behalf,
                                                                     TimePoint deadline) const {
  ClaimUnusedRequest claim;
  claim.set_count_max(kClaimedCountMax);
  NEPTUNE_ASSIGN_OR_RETURN(
      const UnusedImages unused,
      WriteHere<UnusedImages>(behalf, kClaimUnusedMethod, claim, {.deadline = deadline}));
  Reclaimed reclaimed;
  reclaimed.found.assign(unused.images().begin(), unused.images().end());
  reclaimed.deleted = images_->Delete(behalf.session.session(), reclaimed.found, deadline);
  if (reclaimed.deleted.empty()) return reclaimed;
  ForgetImagesRequest forget;
  forget.mutable_images()->Assign(reclaimed.deleted.begin(), reclaimed.deleted.end());
  // If this fails the images are deleted once more, which is harmless. It uses the request's own
  // deadline, because theirs may have passed.
  (void)WriteHere<ForgetImagesResult>(behalf, kForgetImagesMethod, forget,
                                      {.deadline = Within(behalf.context, kReclaimTimeMax)});
  return reclaimed;
}

StatusOr<PictureWithImage> PhotoAlbumModule::ViewPicture(const StoreView& store,
                                                         RequestContext& context,
                                                         const ViewPictureRequest& request) const {
  NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition()));
  PictureWithImage answer;
  NEPTUNE_ASSIGN_OR_RETURN(*answer.mutable_picture(),
                           ReadPicture(store, request.album_id(), request.picture_id()));
  Behalf behalf = BehalfOf(context);
  NEPTUNE_ASSIGN_OR_RETURN(Image image, images_->Read(behalf.session, answer.picture().image()));
  answer.set_image(std::move(*image.mutable_image()));
  return answer;
}

StatusOr<ThumbnailPage> PhotoAlbumModule::ViewThumbnails(const StoreView& store,
                                                         RequestContext& context,
                                                         const ViewAlbumRequest& request) const {
  NEPTUNE_RETURN_IF_ERROR(CheckAlbum(request.album_id(), context.partition()));
  ThumbnailPage answer;
  NEPTUNE_ASSIGN_OR_RETURN(*answer.mutable_page(), ReadAlbum(store, request));
  std::vector<ImageId> ids;
  for (const Picture& picture : answer.page().pictures()) ids.push_back(picture.image());
  const Duration time_left = context.deadline() - context.Now();
  FoundThumbnails found =
      images_->ReadThumbnails(ClientSession(*client_, context), ids,
                              Within(context, std::min(kThumbnailTimeMax, time_left / 4 * 3)));
  for (std::optional<Thumbnail>& thumbnail : found.thumbnails) {
    PictureThumbnail& shown = *answer.add_thumbnails();
    if (!thumbnail) continue;
    const bool has_any = !thumbnail->thumbnail().empty();
    shown.set_outcome(has_any ? PictureThumbnail::THERE : PictureThumbnail::NONE);
    shown.set_thumbnail(std::move(*thumbnail->mutable_thumbnail()));
  }
  for (const uint32_t partition : found.missing_partitions) {
    answer.add_missing_partitions(partition);
  }
  return answer;
}

}  // namespace neptune::examples::photo_album
