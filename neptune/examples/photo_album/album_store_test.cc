// The records of the two stores: pictures, images between the two services, and the limits of
// images.

#include "neptune/examples/photo_album/album_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/examples/photo_album/image_store.h"
#include "neptune/world/sim/sim_storage.h"

namespace neptune::examples::photo_album {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;

constexpr uint32_t kPartitionCount = 4;

ImageId IdOf(uint64_t number) {
  ImageId id;
  id.set_client(7);
  id.set_number(number);
  return id;
}

class AlbumStoreTest : public testing::Test {
 protected:
  // Executes a write like a replica: a refused write changes nothing.
  template <typename Write>
  auto Execute(const Write& write) {
    WriteBatch batch;
    StoreChanges changes(batch);
    auto result = write(WriteContext{PartitionId(3), ++lsn_, now_, view_, changes});
    const Status status = result.ok() ? store_->Write(batch, WriteMode::kBuffered) : OkStatus();
    EXPECT_TRUE(status.ok()) << status;
    return result;
  }
  void Pass(nanoseconds time) { now_.ns_since_1970 += time.count(); }

  StatusOr<Album> Create() {
    CreateAlbumRequest request;
    request.set_owner("eve");
    request.set_title("summer");
    return Execute([&](const auto& write) { return CreateAlbum(write, kPartitionCount, request); });
  }
  Status Begin(uint64_t album, uint64_t image) {
    BeginPictureRequest request;
    request.set_album_id(album);
    request.set_title("t");
    *request.mutable_image() = IdOf(image);
    return Execute([&](const auto& write) { return BeginPicture(write, request); }).status();
  }
  StatusOr<Picture> Commit(uint64_t album, uint64_t image) {
    CommitPictureRequest request;
    request.set_album_id(album);
    request.set_title("t");
    *request.mutable_image() = IdOf(image);
    return Execute([&](const auto& write) { return CommitPicture(write, request); });
  }
  StatusOr<Picture> Remove(uint64_t album, uint64_t picture) {
    RemovePictureRequest request;
    request.set_album_id(album);
    request.set_picture_id(picture);
    return Execute([&](const auto& write) { return RemovePicture(write, request); });
  }
  // Returns the numbers of the claimed images.
  std::vector<uint64_t> Claim(uint32_t count_max = 100) {
    ClaimUnusedRequest request;
    request.set_count_max(count_max);
    const auto claimed = Execute([&](const auto& write) { return ClaimUnused(write, request); });
    EXPECT_TRUE(claimed.ok()) << claimed.status();
    std::vector<uint64_t> numbers;
    for (const ImageId& image : claimed->images()) numbers.push_back(image.number());
    return numbers;
  }
  Status Forget(uint64_t image) {
    ForgetImagesRequest request;
    *request.add_images() = IdOf(image);
    return Execute([&](const auto& write) { return ForgetImages(write, request); }).status();
  }
  StatusOr<StoreImageResult> Store(uint64_t image, size_t size, uint64_t size_max = 1u << 30) {
    StoreImageRequest request;
    *request.mutable_id() = IdOf(image);
    request.set_image(std::string(size, 'x'));
    return Execute(
        [&](const auto& write) { return StoreImage(write, {.size_max = size_max}, request); });
  }

  SimStorage storage_;
  const std::unique_ptr<KeyValueStore> store_ = *storage_.Open("data");
  const StoreView view_{*store_};
  WallTime now_{.ns_since_1970 = int64_t{1} << 60};
  Lsn lsn_ = 0;
};

using Numbers = std::vector<uint64_t>;

TEST_F(AlbumStoreTest, AlbumNumbersLeaveTheirPartition) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Create()->id() % kPartitionCount, 3u);
  EXPECT_NE(Create()->id(), Create()->id());
}

TEST_F(AlbumStoreTest, AnImageOfAPictureIsNotUnused) {
  const uint64_t album = Create()->id();
  ASSERT_TRUE(Begin(album, 1).ok());
  EXPECT_EQ(Claim(), Numbers()) << "its picture is still being added";
  ASSERT_TRUE(Commit(album, 1).ok());
  Pass(kPendingTime + minutes(1));
  EXPECT_EQ(Claim(), Numbers());
}

TEST_F(AlbumStoreTest, UncommittedImagesAreAbandoned) {
  const uint64_t album = Create()->id();
  ASSERT_TRUE(Begin(album, 1).ok());
  Pass(kPendingTime - nanoseconds(1));
  EXPECT_EQ(Claim(), Numbers());
  Pass(nanoseconds(1));
  EXPECT_EQ(Claim(), Numbers({1}));
  EXPECT_EQ(Commit(album, 1).status().code(), StatusCode::kAborted) << "its image may be deleted";
  EXPECT_EQ(Claim(), Numbers({1})) << "until it is forgotten";
  ASSERT_TRUE(Forget(1).ok());
  EXPECT_EQ(Claim(), Numbers());
  EXPECT_EQ(Commit(album, 1).status().code(), StatusCode::kAborted);
}

TEST_F(AlbumStoreTest, ARemovedPicturesImageIsUnusedAtOnce) {
  const uint64_t album = Create()->id();
  for (const uint64_t image : {1, 2, 3}) {
    ASSERT_TRUE(Begin(album, image).ok());
    ASSERT_EQ(Commit(album, image)->id(), image);
  }
  EXPECT_EQ(Remove(album, 2)->image().number(), 2u);
  EXPECT_EQ(Remove(album, 2).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Remove(album, 3)->image().number(), 3u);
  EXPECT_EQ(Claim(1), Numbers({2}));
  EXPECT_EQ(Claim(), Numbers({2, 3}));
  ASSERT_TRUE(Begin(album, 4).ok());
  EXPECT_EQ(Commit(album, 4)->id(), 4u) << "numbers are not reused";
  ViewAlbumRequest request;
  request.set_album_id(album);
  const auto page = ReadAlbum(view_, request);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->album().picture_count(), 2u);
  ASSERT_EQ(page->pictures_size(), 2);
  EXPECT_EQ(page->pictures(1).id(), 4u);
}

TEST_F(AlbumStoreTest, AnImageStoredTwiceIsKeptOnce) {
  EXPECT_EQ(Store(1, 100)->size(), 100u);
  EXPECT_EQ(Store(1, 100)->image_count(), 1u);
  EXPECT_EQ(Store(1, 101).status().code(), StatusCode::kFailedPrecondition)
      << "a different image has that id";
  EXPECT_EQ(Store(2, 50)->size(), 150u);
}

TEST_F(AlbumStoreTest, ImagesHaveBounds) {
  EXPECT_EQ(Store(1, 0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Store(1, kImageSizeMax + 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Store(1, kImageSizeMax).ok());
  EXPECT_EQ(Store(2, 1, kImageSizeMax).status().code(), StatusCode::kResourceExhausted);
  DeleteImagesRequest request;
  for (const uint64_t image : {1, 1, 5}) *request.add_ids() = IdOf(image);
  const auto deleted = Execute([&](const auto& write) { return DeleteImages(write, request); });
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->deleted_count(), 1u);
  EXPECT_EQ(Store(2, 1, kImageSizeMax)->size(), 1u);
}

}  // namespace
}  // namespace neptune::examples::photo_album
