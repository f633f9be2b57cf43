// Albums and their pictures in a partition's store, and the images that no picture refers to.
//
//   n               AlbumTotals
//   a ALBUM         Album
//   p ALBUM ID      Picture
//   u IMAGE         UnusedImage
//
// Numbers are 8 bytes, big-endian: a page of an album is one scan.
//
// An image is in another service, so a picture and its image cannot be added atomically. The steps
// are logged first:
//
//   BeginPicture ── u: pending ──► image is stored ──► CommitPicture ── removes u, adds p
//                       │ kPendingTime passes
//   RemovePicture ── u ─┴─► ClaimUnused ──► image is deleted ──► ForgetImages ── removes u
//
// Every image thus belongs to a picture or is recorded as unused, whatever fails in between; and an
// image that was claimed can no longer be committed.
//
// Source: [Shen02] 2.1, figure 2.2 (photo album).
// Threads: pure functions of the store.
// Errors: kNotFound no such album or picture, or no such position to continue after;
//   kInvalidArgument a name or title exceeds a limit; kResourceExhausted kAlbumCountMax,
//   kPictureCountMax; kAborted the image to commit was abandoned; kDataLoss a stored record is
//   damaged; those of the store.
// Limits: the constants below.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/examples/photo_album/photo_album.pb.h"
#include "neptune/replication/state/store_state.h"

namespace neptune::examples::photo_album {

inline constexpr uint64_t kAlbumCountMax = 1'000'000;  // in a partition
inline constexpr uint32_t kPictureCountMax = 10'000;   // in an album
inline constexpr size_t kTextSizeMax = 200;            // bytes of a title or name
inline constexpr uint32_t kListedCountDefault = 20;
inline constexpr uint32_t kListedCountMax = 100;
inline constexpr uint32_t kClaimedCountMax = 100;
// Far more than any request may take, including clock differences between primaries.
inline constexpr Duration kPendingTime = std::chrono::minutes(10);

StatusOr<AlbumPage> ReadAlbum(const StoreView& store, const ViewAlbumRequest& request);
StatusOr<Picture> ReadPicture(const StoreView& store, uint64_t album, uint64_t picture);
// The following are writes. An album's number modulo partition_count is its partition.
StatusOr<Album> CreateAlbum(const WriteContext& write, uint32_t partition_count,
                            const CreateAlbumRequest& request);
StatusOr<BeginPictureResult> BeginPicture(const WriteContext& write,
                                          const BeginPictureRequest& request);
StatusOr<Picture> CommitPicture(const WriteContext& write, const CommitPictureRequest& request);
StatusOr<Picture> RemovePicture(const WriteContext& write, const RemovePictureRequest& request);
// Claims at most kClaimedCountMax images, or fewer if requested.
StatusOr<UnusedImages> ClaimUnused(const WriteContext& write, const ClaimUnusedRequest& request);
StatusOr<ForgetImagesResult> ForgetImages(const WriteContext& write,
                                          const ForgetImagesRequest& request);

}  // namespace neptune::examples::photo_album
