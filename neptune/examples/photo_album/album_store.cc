#include "neptune/examples/photo_album/album_store.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/examples/photo_album/keys.h"
#include "neptune/replication/state/stored_message.h"

namespace neptune::examples::photo_album {
namespace {

constexpr char kTotalsKey[] = "n";

std::string AlbumKey(uint64_t album) { return NumberKey('a', album); }
std::string PictureKey(uint64_t album, uint64_t picture) { return NumbersKey('p', album, picture); }
std::string UnusedKey(const ImageId& image) { return IdKey('u', image); }

Status CheckText(const char* what, const std::string& text) {
  if (!text.empty() && text.size() <= kTextSizeMax) return OkStatus();
  return InvalidArgument(what, " has ", text.size(), " bytes, expected 1 to ", kTextSizeMax);
}

StatusOr<Album> FindAlbum(const StoreView& store, uint64_t id) {
  NEPTUNE_ASSIGN_OR_RETURN(auto album, FindStored<Album>(store, AlbumKey(id)));
  if (!album) return NotFound("no album ", id);
  return *std::move(album);
}

// Returns the album if it has room for one more picture.
StatusOr<Album> FindAlbumWithRoom(const StoreView& store, uint64_t id) {
  NEPTUNE_ASSIGN_OR_RETURN(Album album, FindAlbum(store, id));
  if (album.picture_count() < kPictureCountMax) return album;
  return ResourceExhausted("album ", id, " holds ", kPictureCountMax, " pictures");
}

void PutUnused(const ImageId& image, int64_t pending_since_ns, StoreChanges& changes) {
  UnusedImage unused;
  *unused.mutable_image() = image;
  unused.set_pending_since_ns(pending_since_ns);
  changes.Put(UnusedKey(image), unused.SerializeAsString());
}

bool IsGivenUp(const UnusedImage& unused, WallTime now) {
  return unused.pending_since_ns() == 0 ||
         Duration(now.ns_since_1970 - unused.pending_since_ns()) >= kPendingTime;
}

}  // namespace

StatusOr<AlbumPage> ReadAlbum(const StoreView& store, const ViewAlbumRequest& request) {
  AlbumPage page;
  NEPTUNE_ASSIGN_OR_RETURN(*page.mutable_album(), FindAlbum(store, request.album_id()));
  if (request.after_id() > page.album().last_picture()) {
    return NotFound("album ", request.album_id(), " has had no picture ", request.after_id());
  }
  const uint32_t wanted = request.count_max() == 0 ? kListedCountDefault : request.count_max();
  const int most = static_cast<int>(std::min(wanted, kListedCountMax));
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(
      store.Scan({.first = PictureKey(request.album_id(), request.after_id() + 1),
                  .end = PictureKey(request.album_id(), UINT64_MAX)},
                 [&](std::string_view, std::string_view value) {
                   page.set_has_more(page.pictures_size() == most);
                   if (page.has_more()) return false;
                   StatusOr<Picture> picture = ParseStored<Picture>(value);
                   damage = picture.status();
                   if (picture.ok()) *page.add_pictures() = *std::move(picture);
                   return damage.ok();
                 }));
  if (!damage.ok()) return damage;
  return page;
}

StatusOr<Picture> ReadPicture(const StoreView& store, uint64_t album, uint64_t picture) {
  NEPTUNE_ASSIGN_OR_RETURN(auto found, FindStored<Picture>(store, PictureKey(album, picture)));
  if (!found) return NotFound("album ", album, " has no picture ", picture);
  return *std::move(found);
}

StatusOr<Album> CreateAlbum(const WriteContext& write, uint32_t partition_count,
                            const CreateAlbumRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckText("the owner's name", request.owner()));
  NEPTUNE_RETURN_IF_ERROR(CheckText("the title", request.title()));
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept, FindStored<AlbumTotals>(write.store, kTotalsKey));
  AlbumTotals totals = kept.value_or(AlbumTotals());
  if (totals.album_count() >= kAlbumCountMax) {
    return ResourceExhausted("partition ", write.partition, " holds ", kAlbumCountMax, " albums");
  }
  totals.set_album_count(totals.album_count() + 1);
  Album album;
  album.set_id(totals.album_count() * partition_count + write.partition.value());
  album.set_owner(request.owner());
  album.set_title(request.title());
  write.changes.Put(kTotalsKey, totals.SerializeAsString());
  write.changes.Put(AlbumKey(album.id()), album.SerializeAsString());
  return album;
}

StatusOr<BeginPictureResult> BeginPicture(const WriteContext& write,
                                          const BeginPictureRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckText("the title", request.title()));
  NEPTUNE_RETURN_IF_ERROR(FindAlbumWithRoom(write.store, request.album_id()).status());
  PutUnused(request.image(), write.accepted_at.ns_since_1970, write.changes);
  return BeginPictureResult();
}

StatusOr<Picture> CommitPicture(const WriteContext& write, const CommitPictureRequest& request) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto unused,
                           FindStored<UnusedImage>(write.store, UnusedKey(request.image())));
  if (!unused || unused->pending_since_ns() == 0) {
    return Aborted("image ", NameOf(request.image()),
                   " was abandoned before its picture was committed");
  }
  NEPTUNE_ASSIGN_OR_RETURN(Album album, FindAlbumWithRoom(write.store, request.album_id()));
  album.set_picture_count(album.picture_count() + 1);
  album.set_last_picture(album.last_picture() + 1);
  Picture picture;
  picture.set_album_id(album.id());
  picture.set_id(album.last_picture());
  picture.set_title(request.title());
  *picture.mutable_image() = request.image();
  picture.set_size(request.size());
  write.changes.Delete(UnusedKey(request.image()));
  write.changes.Put(AlbumKey(album.id()), album.SerializeAsString());
  write.changes.Put(PictureKey(album.id(), picture.id()), picture.SerializeAsString());
  return picture;
}

StatusOr<Picture> RemovePicture(const WriteContext& write, const RemovePictureRequest& request) {
  NEPTUNE_ASSIGN_OR_RETURN(Album album, FindAlbum(write.store, request.album_id()));
  NEPTUNE_ASSIGN_OR_RETURN(const Picture picture,
                           ReadPicture(write.store, album.id(), request.picture_id()));
  album.set_picture_count(album.picture_count() - 1);
  write.changes.Put(AlbumKey(album.id()), album.SerializeAsString());
  write.changes.Delete(PictureKey(album.id(), picture.id()));
  PutUnused(picture.image(), 0, write.changes);
  return picture;
}

StatusOr<UnusedImages> ClaimUnused(const WriteContext& write, const ClaimUnusedRequest& request) {
  const int most = static_cast<int>(std::min(request.count_max(), kClaimedCountMax));
  UnusedImages claimed;
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(
      write.store.Scan({.first = "u", .end = "v"}, [&](std::string_view, std::string_view value) {
        if (claimed.images_size() >= most) return false;
        const StatusOr<UnusedImage> unused = ParseStored<UnusedImage>(value);
        damage = unused.status();
        if (damage.ok() && IsGivenUp(*unused, write.accepted_at)) {
          *claimed.add_images() = unused->image();
        }
        return damage.ok();
      }));
  if (!damage.ok()) return damage;
  for (const ImageId& image : claimed.images()) PutUnused(image, 0, write.changes);
  return claimed;
}

StatusOr<ForgetImagesResult> ForgetImages(const WriteContext& write,
                                          const ForgetImagesRequest& request) {
  for (const ImageId& image : request.images()) write.changes.Delete(UnusedKey(image));
  return ForgetImagesResult();
}

}  // namespace neptune::examples::photo_album
