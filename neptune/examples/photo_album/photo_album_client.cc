// Command-line client of a running photo album: makes and shows albums, adds, fetches and deletes
// pictures.

#include <gflags/gflags.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "neptune/examples/client/ask_replicas.h"
#include "neptune/examples/client/caller_path.h"
#include "neptune/examples/client/example_client.h"
#include "neptune/examples/photo_album/photo_album.pb.h"
#include "neptune/examples/photo_album/photo_album_module.h"

DEFINE_string(spec, "neptune/examples/photo_album/cluster.textproto",
              "spec of the running cluster");
DEFINE_string(create, "", "title of an album to create");
DEFINE_string(owner, "guest", "owner of the album to create");
DEFINE_uint64(album, 0, "number of the album; alone: list its pictures and thumbnails");
DEFINE_string(add, "", "file with the image of a picture to add");
DEFINE_string(thumbnail, "", "file with a thumbnail of it; optional");
DEFINE_string(title, "no title", "title of the picture to add");
DEFINE_uint64(picture, 0, "number of the picture");
DEFINE_string(save, "", "file to write the picture's image to");
DEFINE_bool(remove, false, "delete --picture");
DEFINE_bool(reclaim, false, "delete images that no picture refers to");
DEFINE_string(service_class, "visitor", "service class of the requests: member or visitor");

namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::OkStatus;
using neptune::ReplicaSession;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::AskReplicas;
using neptune::examples::ReplicasAsked;
namespace album = neptune::examples::photo_album;

unsigned long long Wide(uint64_t number) { return number; }

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicasAsked& asked, const char* method, AccessMode access, Request request) {
  request.set_album_id(FLAGS_album);
  return AskReplicas<Answer>(asked, FLAGS_album, method, access, request);
}

StatusOr<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(neptune::examples::CallerPath(path), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty()) return neptune::NotFound("cannot read ", path);
  return bytes;
}

void Show(const album::Picture& picture) {
  std::printf("picture %llu: %s, %llu bytes", Wide(picture.id()), picture.title().c_str(),
              Wide(picture.size()));
}

Status Create(ReplicasAsked& asked) {
  album::CreateAlbumRequest request;
  request.set_owner(FLAGS_owner);
  request.set_title(FLAGS_create);
  const uint64_t partition = std::hash<std::string>()(FLAGS_owner) % asked.partition_count;
  NEPTUNE_ASSIGN_OR_RETURN(const auto made,
                           AskReplicas<album::Album>(asked, partition, album::kCreateAlbumMethod,
                                                     AccessMode::kWrite, request));
  std::printf("album %llu: %s, of %s\n", Wide(made.id()), made.title().c_str(),
              made.owner().c_str());
  return OkStatus();
}

void Show(const album::PictureThumbnail& thumbnail) {
  switch (thumbnail.outcome()) {
    case album::PictureThumbnail::THERE:
      std::printf(", thumbnail of %zu bytes\n", thumbnail.thumbnail().size());
      return;
    case album::PictureThumbnail::NONE:
      std::printf(", no thumbnail\n");
      return;
    default:
      std::printf(", thumbnail unavailable\n");
  }
}

Status List(ReplicasAsked& asked) {
  album::ViewAlbumRequest request;
  bool has_more = true;
  while (has_more) {
    NEPTUNE_ASSIGN_OR_RETURN(
        const auto answer,
        Ask<album::ThumbnailPage>(asked, album::kViewThumbnailsMethod, AccessMode::kRead, request));
    const album::AlbumPage& page = answer.page();
    if (request.after_id() == 0) {
      std::printf("%s, of %s: %u pictures\n", page.album().title().c_str(),
                  page.album().owner().c_str(), page.album().picture_count());
    }
    for (int i = 0; i < page.pictures_size(); ++i) {
      Show(page.pictures(i));
      Show(answer.thumbnails(i));
      request.set_after_id(page.pictures(i).id());
    }
    for (const uint32_t partition : answer.missing_partitions()) {
      std::printf("partition %u of the image store does not answer\n", partition);
    }
    has_more = page.has_more();
  }
  return OkStatus();
}

Status Add(ReplicasAsked& asked) {
  album::AddPictureRequest request;
  request.set_title(FLAGS_title);
  NEPTUNE_ASSIGN_OR_RETURN(*request.mutable_image(), ReadFile(FLAGS_add));
  NEPTUNE_ASSIGN_OR_RETURN(*request.mutable_thumbnail(), ReadFile(FLAGS_thumbnail));
  NEPTUNE_ASSIGN_OR_RETURN(const auto picture, Ask<album::Picture>(asked, album::kAddPictureMethod,
                                                                   AccessMode::kWrite, request));
  Show(picture);
  std::printf("\n");
  return OkStatus();
}

Status View(ReplicasAsked& asked) {
  album::ViewPictureRequest request;
  request.set_picture_id(FLAGS_picture);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto viewed,
      Ask<album::PictureWithImage>(asked, album::kViewPictureMethod, AccessMode::kRead, request));
  Show(viewed.picture());
  std::printf(", fetched\n");
  if (FLAGS_save.empty()) return OkStatus();
  std::ofstream file(neptune::examples::CallerPath(FLAGS_save), std::ios::binary);
  file << viewed.image();
  file.close();
  return file ? OkStatus() : neptune::Unavailable("cannot write ", FLAGS_save);
}

Status Remove(ReplicasAsked& asked) {
  album::DeletePictureRequest request;
  request.set_picture_id(FLAGS_picture);
  NEPTUNE_ASSIGN_OR_RETURN(const auto result,
                           Ask<album::DeletePictureResult>(asked, album::kDeletePictureMethod,
                                                           AccessMode::kWrite, request));
  std::printf(result.image_waits() ? "deleted; its image will be deleted later\n" : "deleted\n");
  return OkStatus();
}

Status Reclaim(ReplicasAsked& asked) {
  for (uint32_t p = 0; p < asked.partition_count; ++p) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto result, AskReplicas<album::ReclaimResult>(
                                                    asked, p, album::kReclaimMethod,
                                                    AccessMode::kWrite, album::ReclaimRequest()));
    std::printf("partition %u: %u images deleted, %u left\n", p, result.deleted_count(),
                result.left_count());
  }
  return OkStatus();
}

Status DoAsTold(neptune::ClientSession& session, uint32_t partition_count) {
  session.service_class = FLAGS_service_class;
  ReplicasAsked asked{ReplicaSession(session), neptune::ServiceName(album::kPhotoAlbumService),
                      partition_count};
  if (FLAGS_reclaim) return Reclaim(asked);
  if (!FLAGS_create.empty()) return Create(asked);
  if (!FLAGS_add.empty()) return Add(asked);
  if (FLAGS_picture == 0) return List(asked);
  return FLAGS_remove ? Remove(asked) : View(asked);
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage =
           "makes an album of a running photo album service, shows it, adds or deletes pictures",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName(album::kPhotoAlbumService),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask = DoAsTold});
}
