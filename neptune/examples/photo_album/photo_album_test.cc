// The photo album over the image store on its own cluster spec: nested calls, what they inherit,
// and the result when a partition of the image store is unavailable.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/examples/photo_album/image_store_module.h"
#include "neptune/examples/photo_album/photo_album.pb.h"
#include "neptune/examples/photo_album/photo_album_module.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples::photo_album {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kAlbums(kPhotoAlbumService);
constexpr uint32_t kPartitionCount = 2;
const char* const kFirstImageNodes[] = {"photo-1", "photo-2", "photo-3"};   // and all albums
const char* const kSecondImageNodes[] = {"photo-4", "photo-5", "photo-6"};  // nothing else

ExampleClusterOptions Cluster(std::function<std::unique_ptr<ServiceModule>()> image_store) {
  ExampleClusterOptions options;
  options.spec_file = "neptune/examples/photo_album/cluster.textproto";
  options.modules = [image_store = std::move(image_store)](
                        const std::string& name) -> std::unique_ptr<ServiceModule> {
    if (name == "image_store") return image_store();
    return std::make_unique<PhotoAlbumModule>();
  };
  return options;
}

template <typename Answer, typename Request>
StatusOr<Answer> AskPartition(ReplicaSession& session, uint64_t partition, const char* method,
                              AccessMode access, const Request& request,
                              const ReplicaCallOptions& options = {}) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(session.Call(
      {kAlbums, PartitionId(static_cast<uint32_t>(partition)), MethodName(method), access},
      Data::Of(request), &response, options));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicaSession& session, const char* method, AccessMode access,
                     const Request& request, const ReplicaCallOptions& options = {}) {
  return AskPartition<Answer>(session, request.album_id() % kPartitionCount, method, access,
                              request, options);
}

uint64_t Create(ReplicaSession& session) {
  CreateAlbumRequest request;
  request.set_owner("eve");
  request.set_title("summer");
  const auto album =
      AskPartition<Album>(session, 1, kCreateAlbumMethod, AccessMode::kWrite, request);
  EXPECT_TRUE(album.ok()) << album.status();
  return album.ok() ? album->id() : 0;
}

std::string ImageOf(const std::string& title) { return StrCat("image of ", title); }

// Returns the id of a write whose image is in this partition of the image store.
RequestId NameIn(uint32_t partition) {
  static uint64_t last = 0;
  ImageId id;
  id.set_client(99);
  do id.set_number(++last);
  while (PartitionOfImage(id, kPartitionCount) != partition);
  return {id.client(), id.number()};
}

StatusOr<Picture> Add(ReplicaSession& session, uint64_t album, const std::string& title,
                      const ReplicaCallOptions& options) {
  AddPictureRequest request;
  request.set_album_id(album);
  request.set_title(title);
  request.set_image(ImageOf(title));
  request.set_thumbnail(StrCat("small ", title));
  return Ask<Picture>(session, kAddPictureMethod, AccessMode::kWrite, request, options);
}

StatusOr<Picture> AddTo(ReplicaSession& session, uint64_t album, const std::string& title,
                        uint32_t image_partition) {
  return Add(session, album, title, {.id = NameIn(image_partition)});
}

StatusOr<PictureWithImage> View(ReplicaSession& session, uint64_t album, uint64_t picture,
                                const ReplicaCallOptions& options = {}) {
  ViewPictureRequest request;
  request.set_album_id(album);
  request.set_picture_id(picture);
  return Ask<PictureWithImage>(session, kViewPictureMethod, AccessMode::kRead, request, options);
}

template <typename Page>
StatusOr<Page> ViewPage(ReplicaSession& session, const char* method, uint64_t album,
                        uint64_t after = 0, uint32_t count_max = 0) {
  ViewAlbumRequest request;
  request.set_album_id(album);
  request.set_after_id(after);
  request.set_count_max(count_max);
  return Ask<Page>(session, method, AccessMode::kRead, request);
}

StatusOr<DeletePictureResult> Delete(ReplicaSession& session, uint64_t album, uint64_t picture) {
  DeletePictureRequest request;
  request.set_album_id(album);
  request.set_picture_id(picture);
  return Ask<DeletePictureResult>(session, kDeletePictureMethod, AccessMode::kWrite, request);
}

// Reads at the primary: another replica may still have a deleted image.
StatusCode ImageOutcome(ReplicaSession& session, const ImageId& id) {
  ReadImageRequest request;
  *request.mutable_id() = id;
  Data response;
  return session
      .Call({ServiceName(kImageStoreService), PartitionId(PartitionOfImage(id, kPartitionCount)),
             MethodName(kReadImageMethod), AccessMode::kRead},
            Data::Of(request), &response, {.staleness_max = Duration{0}})
      .code();
}

class PhotoAlbumTest : public testing::Test {
 protected:
  explicit PhotoAlbumTest(std::function<std::unique_ptr<ServiceModule>()> image_store =
                              [] { return std::make_unique<ImageStoreModule>(); })
      : cluster_(Cluster(std::move(image_store))) {
    cluster_.simulator().RunFor(seconds(2));
  }
  // Runs `body` in the same session each time.
  void InSession(const std::function<void(ReplicaSession&)>& body) {
    cluster_.RunOnClient([&](ClientSession& session) {
      if (!session_) session_.emplace(session);
      body(*session_);
    });
  }
  void Crash(std::span<const char* const> nodes) {
    for (const char* const node : nodes) cluster_.simulator().Crash(node);
  }
  void Restart(std::span<const char* const> nodes) {
    for (const char* const node : nodes) cluster_.simulator().Restart(node);
    cluster_.simulator().RunFor(seconds(4));
  }
  SimulatedExample cluster_;
  std::optional<ReplicaSession> session_;
};

TEST_F(PhotoAlbumTest, ShowsWhatWasAdded) {
  InSession([](ReplicaSession& session) {
    const uint64_t album = Create(session);
    for (uint64_t i = 1; i <= 6; ++i) {
      const auto added = Add(session, album, StrCat("p", i), {});
      ASSERT_TRUE(added.ok()) << added.status();
      EXPECT_EQ(added->id(), i);
      const auto page = ViewPage<AlbumPage>(session, kViewAlbumMethod, album);
      ASSERT_TRUE(page.ok()) << page.status();
      EXPECT_EQ(page->album().picture_count(), i) << "a session sees its own additions";
      const auto viewed = View(session, album, i);
      ASSERT_TRUE(viewed.ok()) << viewed.status();
      EXPECT_EQ(viewed->image(), ImageOf(StrCat("p", i)));
    }
  });
}

TEST_F(PhotoAlbumTest, ThumbnailsComeInPagesFromAllPartitions) {
  InSession([](ReplicaSession& session) {
    const uint64_t album = Create(session);
    for (uint32_t i = 0; i < 6; ++i) {
      ASSERT_TRUE(AddTo(session, album, StrCat("p", i), i % kPartitionCount).ok());
    }
    const auto page = ViewPage<ThumbnailPage>(session, kViewThumbnailsMethod, album, 1, 4);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_TRUE(page->page().has_more());
    EXPECT_EQ(page->missing_partitions_size(), 0);
    ASSERT_EQ(page->thumbnails_size(), 4);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(page->thumbnails(i).outcome(), PictureThumbnail::THERE);
      EXPECT_EQ(page->thumbnails(i).thumbnail(), StrCat("small p", i + 1));
    }
  });
}

TEST_F(PhotoAlbumTest, AnUnavailablePartitionAffectsOnlyItsImages) {
  uint64_t album = 0;
  InSession([&](ReplicaSession& session) {
    album = Create(session);
    for (uint32_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(AddTo(session, album, StrCat("p", i), i % kPartitionCount).ok());
    }
  });
  Crash(kSecondImageNodes);
  InSession([&](ReplicaSession& session) {
    const TimePoint began = this_thread::Now();
    const auto page = ViewPage<ThumbnailPage>(session, kViewThumbnailsMethod, album);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_LT(this_thread::Now() - began, 2 * kThumbnailTimeMax);
    ASSERT_EQ(page->missing_partitions_size(), 1);
    EXPECT_EQ(page->missing_partitions(0), 1u);
    ASSERT_EQ(page->thumbnails_size(), 4);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(page->thumbnails(i).outcome(),
                i % 2 == 0 ? PictureThumbnail::THERE : PictureThumbnail::MISSING);
    }
    EXPECT_TRUE(View(session, album, 1).ok());
    const auto away = View(session, album, 2, {.deadline = this_thread::Now() + seconds(1)});
    EXPECT_TRUE(away.status().code() == StatusCode::kDeadlineExceeded ||
                away.status().code() == StatusCode::kUnavailable)
        << away.status();
    EXPECT_TRUE(AddTo(session, album, "p4", 0).ok());
    EXPECT_FALSE(
        Add(session, album, "p5", {.deadline = this_thread::Now() + seconds(2), .id = NameIn(1)})
            .ok());
    EXPECT_EQ(ViewPage<AlbumPage>(session, kViewAlbumMethod, album)->album().picture_count(), 5u)
        << "a picture without its image";
  });
  Restart(kSecondImageNodes);
  InSession([&](ReplicaSession& session) {
    EXPECT_EQ(View(session, album, 2)->image(), ImageOf("p1"));
    const auto page = ViewPage<ThumbnailPage>(session, kViewThumbnailsMethod, album);
    EXPECT_EQ(page->missing_partitions_size(), 0);
  });
}

TEST_F(PhotoAlbumTest, APictureAddedTwiceUnderOneIdExistsOnce) {
  uint64_t album = 0;
  const RequestId name = NameIn(1);
  for (const bool is_first : {true, false}) {
    InSession([&](ReplicaSession& session) {
      if (is_first) album = Create(session);
      for (int i = 0; i < 2; ++i) {
        const auto added = Add(session, album, "p", {.id = name});
        ASSERT_TRUE(added.ok()) << added.status();
        EXPECT_EQ(added->id(), 1u);
      }
      const auto page = ViewPage<AlbumPage>(session, kViewAlbumMethod, album);
      EXPECT_EQ(page->album().picture_count(), 1u);
    });
    // Also after a change of primary.
    cluster_.simulator().Crash("photo-1");
    cluster_.simulator().Crash("photo-4");
    cluster_.simulator().RunFor(seconds(1));
  }
}

TEST_F(PhotoAlbumTest, ADeletedPicturesImageIsDeleted) {
  InSession([](ReplicaSession& session) {
    const uint64_t album = Create(session);
    const auto picture = Add(session, album, "p", {});
    ASSERT_TRUE(picture.ok()) << picture.status();
    EXPECT_EQ(ImageOutcome(session, picture->image()), StatusCode::kOk);
    const auto deleted = Delete(session, album, 1);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
    EXPECT_FALSE(deleted->image_waits());
    EXPECT_EQ(ImageOutcome(session, picture->image()), StatusCode::kNotFound);
    EXPECT_EQ(View(session, album, 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Delete(session, album, 1).status().code(), StatusCode::kNotFound);
  });
}

TEST_F(PhotoAlbumTest, AnImageThatCannotBeDeletedNowIsDeletedLater) {
  uint64_t album = 0;
  StatusOr<Picture> picture = Unavailable("none yet");
  InSession([&](ReplicaSession& session) {
    album = Create(session);
    picture = AddTo(session, album, "p", 1);
    ASSERT_TRUE(picture.ok()) << picture.status();
  });
  Crash(kSecondImageNodes);
  InSession([&](ReplicaSession& session) {
    const auto deleted = Delete(session, album, 1);
    ASSERT_TRUE(deleted.ok()) << deleted.status();
    EXPECT_TRUE(deleted->image_waits());
    EXPECT_EQ(View(session, album, 1).status().code(), StatusCode::kNotFound);
  });
  Restart(kSecondImageNodes);
  InSession([&](ReplicaSession& session) {
    EXPECT_EQ(ImageOutcome(session, picture->image()), StatusCode::kOk);
    for (const uint32_t deleted_count : {1u, 0u}) {
      const auto reclaimed = AskPartition<ReclaimResult>(
          session, album % kPartitionCount, kReclaimMethod, AccessMode::kWrite, ReclaimRequest());
      ASSERT_TRUE(reclaimed.ok()) << reclaimed.status();
      EXPECT_EQ(reclaimed->deleted_count(), deleted_count);
      EXPECT_EQ(reclaimed->left_count(), 0u);
    }
    EXPECT_EQ(ImageOutcome(session, picture->image()), StatusCode::kNotFound);
  });
}

TEST_F(PhotoAlbumTest, RefusesInvalidRequests) {
  InSession([](ReplicaSession& session) {
    const uint64_t album = Create(session);
    AddPictureRequest request;
    request.set_album_id(album);
    request.set_title("t");
    const auto refusal = [&] {
      return Ask<Picture>(session, kAddPictureMethod, AccessMode::kWrite, request).status().code();
    };
    EXPECT_EQ(refusal(), StatusCode::kInvalidArgument) << "no image";
    request.set_image(std::string(kImageSizeMax + 1, 'x'));
    EXPECT_EQ(refusal(), StatusCode::kInvalidArgument) << "an image over its limit";
    request.set_image("x");
    request.set_thumbnail(std::string(kThumbnailSizeMax + 1, 'x'));
    EXPECT_EQ(refusal(), StatusCode::kInvalidArgument);
    request.clear_thumbnail();
    request.set_title("");
    EXPECT_EQ(refusal(), StatusCode::kInvalidArgument);
    request.set_title("t");
    request.set_album_id(album + kPartitionCount);
    EXPECT_EQ(refusal(), StatusCode::kNotFound);
    request.set_album_id(album);
    EXPECT_EQ(AskPartition<Picture>(session, 0, kAddPictureMethod, AccessMode::kWrite, request)
                  .status()
                  .code(),
              StatusCode::kInvalidArgument)
        << "a partition that does not have the album";
    Data response;
    EXPECT_EQ(Call(session.session(),
                   {kAlbums, PartitionId(1), MethodName(kAddPictureMethod), AccessMode::kWrite},
                   Data::Of(request), &response)
                  .code(),
              StatusCode::kInvalidArgument)
        << "a write without an id";
    EXPECT_EQ(View(session, album, 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(View(session, album + kPartitionCount, 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Delete(session, album, 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(ViewPage<AlbumPage>(session, kViewAlbumMethod, album, 1).status().code(),
              StatusCode::kNotFound);
    EXPECT_EQ(ViewPage<AlbumPage>(session, kViewAlbumMethod, album)->album().picture_count(), 0u);
  });
}

TEST_F(PhotoAlbumTest, AddedRecordsSurviveAnyNode) {
  uint64_t album = 0;
  InSession([&](ReplicaSession& session) { album = Create(session); });
  uint64_t count = 0;
  for (const auto nodes : {kFirstImageNodes, kSecondImageNodes}) {
    for (int i = 0; i < 3; ++i) {
      const char* const node = nodes[i];
      InSession([&](ReplicaSession& session) {
        for (uint32_t p = 0; p < kPartitionCount; ++p) {
          const auto added = AddTo(session, album, node, p);
          ASSERT_TRUE(added.ok()) << added.status();
          count = added->id();
        }
      });
      cluster_.simulator().Crash(node);
      InSession([&](ReplicaSession& session) {
        for (const uint64_t picture : {count - 1, count}) {
          const auto viewed = View(session, album, picture);
          ASSERT_TRUE(viewed.ok()) << node << ": " << viewed.status();
          EXPECT_EQ(viewed->image(), ImageOf(node));
        }
        ASSERT_TRUE(AddTo(session, album, "while one is away", 1).ok());
      });
      Restart({&node, 1});
    }
  }
}

// Replaces the image store: records the attributes of its requests, and returns no image until the
// caller's time has run out.
struct Noted {
  std::string service_class;
  TimePoint deadline;
  TimePoint ended;
};

class HangingImageStore final : public ServiceModule {
 public:
  explicit HangingImageStore(std::vector<Noted>* noted) : noted_(*noted) {}
  void DeclareParameters(ParameterTable& table) override { declared_.DeclareParameters(table); }
  Status Start(ModuleContext& context) override {
    const auto hang = [this](RequestContext& request, const Data&, Data*) {
      Noted noted{request.service_class(), request.deadline(), {}};
      const Status status = request.SleepUntil(request.Now() + seconds(60));
      noted.ended = request.Now();
      noted_.push_back(noted);
      return status;
    };
    context.registrar.Method(MethodName(kReadImageMethod), {.grain = Grain::kLong}, hang);
    context.registrar.Method(MethodName(kReadThumbnailsMethod), {.grain = Grain::kLong}, hang);
    context.registrar.Method(MethodName(kStoreImageMethod),
                             {.access = AccessMode::kWrite, .stateless = false},
                             [](RequestContext&, const Data&, Data* response) {
                               *response = Data::Of(StoreImageResult());
                               return OkStatus();
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "hanging"; }

 private:
  ImageStoreModule declared_;  // declares the parameters of the service, which this one ignores
  std::vector<Noted>& noted_;
};

class NestedCallTest : public PhotoAlbumTest {
 protected:
  NestedCallTest()
      : PhotoAlbumTest([this] { return std::make_unique<HangingImageStore>(&noted_); }) {
    InSession([this](ReplicaSession& session) {
      album_ = Create(session);
      ASSERT_TRUE(AddTo(session, album_, "p", 0).ok());
      ASSERT_TRUE(AddTo(session, album_, "q", 1).ok());
    });
  }
  std::vector<Noted> noted_;
  uint64_t album_ = 0;
};

TEST_F(NestedCallTest, NestedCallInheritsClassAndDeadline) {
  for (const char* const name : {"member", "visitor"}) {
    noted_.clear();
    InSession([&](ReplicaSession& session) {
      session.session().service_class = name;
      const TimePoint deadline = this_thread::Now() + milliseconds(400);
      EXPECT_EQ(View(session, album_, 1, {.deadline = deadline}).status().code(),
                StatusCode::kDeadlineExceeded);
      this_thread::SleepFor(milliseconds(100));
      ASSERT_EQ(noted_.size(), 1u);
      EXPECT_EQ(noted_[0].service_class, name);
      // Virtual time is the same on all nodes; the difference is the time of the calls.
      EXPECT_LE(noted_[0].deadline, deadline + milliseconds(1));
      EXPECT_GT(noted_[0].deadline, deadline - milliseconds(20));
      EXPECT_LT(noted_[0].ended, deadline + milliseconds(20));
    });
  }
}

TEST_F(NestedCallTest, APageIsAnsweredBeforeItsRequestsDeadline) {
  InSession([&](ReplicaSession& session) {
    const TimePoint began = this_thread::Now();
    session.session().default_timeout = milliseconds(200);
    const auto page = ViewPage<ThumbnailPage>(session, kViewThumbnailsMethod, album_);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_LT(this_thread::Now(), began + milliseconds(200));
    EXPECT_EQ(page->missing_partitions_size(), 2);
    EXPECT_EQ(page->page().pictures_size(), 2);
  });
}

}  // namespace
}  // namespace neptune::examples::photo_album
