// FACE over partitions answers like one gallery, and recognises people.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "neptune/base/strings.h"
#include "neptune/examples/face/eigenfaces.h"
#include "neptune/examples/face/face_aggregation.h"
#include "neptune/examples/face/face_gallery.h"
#include "neptune/examples/face/face_module.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kSeed = 4;
constexpr uint32_t kPartitionCount = 5;
constexpr size_t kEigenfaceCount = 20;

std::string Folder(const std::string& name) {
  return StrCat(std::getenv("TEST_TMPDIR"), "/", name);
}

bool Learnt(const FacePicture& face) { return face.number <= 3; }

std::vector<FacePicture> Faces(bool learnt) {
  std::vector<FacePicture> faces = MakeFaces(kSeed, 20, 6);
  std::erase_if(faces, [learnt](const FacePicture& face) { return Learnt(face) != learnt; });
  return faces;
}

TEST(FaceImageTest, PgmRoundTrips) {
  const GreyImage image = MakeFaces(kSeed, 1, 1)[0].image;
  const StatusOr<GreyImage> read = ParsePgm(ToPgm(image));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->width, image.width);
  EXPECT_TRUE(read->pixels == image.pixels);
}

TEST(FaceImageTest, PgmMayHaveCommentsAndAnyPixels) {
  const StatusOr<GreyImage> read = ParsePgm("P5\n# by hand\n2 1\n255\n#\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->pixels, "#\n");
}

TEST(FaceImageTest, InvalidPgmIsRefused) {
  for (const char* bytes :
       {"", "P5", "P2\n1 1\n255\n0", "P5\n0 1\n255\n", "P5\n2 2\n255\nabc", "P5\n1 1\n65535\nab",
        "P5\n9999999 9999999\n255\nx", "P5\n-1 1\n255\nx", "P5 #", "P5\n99999999999 1\n255\nx"}) {
    EXPECT_EQ(ParsePgm(bytes).status().code(), StatusCode::kInvalidArgument) << bytes;
  }
}

TEST(FaceImageTest, FolderIsReadInOrder) {
  const std::vector<FacePicture> made = MakeFaces(kSeed, 3, 11);
  ASSERT_TRUE(WriteFaces(made, Folder("pictures")).ok());
  const StatusOr<std::vector<FacePicture>> read = ReadFaces(Folder("pictures"));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->size(), made.size());
  for (size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ((*read)[i].name(), made[i].name());
    EXPECT_TRUE((*read)[i].image.pixels == made[i].image.pixels);
  }
  EXPECT_EQ(ReadFaces(Folder("nothing")).status().code(), StatusCode::kNotFound);
}

TEST(EigenfacesTest, EigenfacesAreOrthonormalAndOrdered) {
  std::vector<GreyImage> pictures;
  for (const FacePicture& face : Faces(true)) pictures.push_back(face.image);
  const FaceModel model = TrainEigenfaces(pictures, kEigenfaceCount).value();
  const auto pixel_count = static_cast<size_t>(model.mean_size());
  const auto dot = [&](size_t a, size_t b) {
    double sum = 0;
    for (size_t i = 0; i < pixel_count; ++i) {
      sum += model.eigenfaces(static_cast<int>(a * pixel_count + i)) *
             model.eigenfaces(static_cast<int>(b * pixel_count + i));
    }
    return sum;
  };
  const EigenfaceSpace space = *EigenfaceSpace::Of(model);
  ASSERT_EQ(space.eigenface_count(), kEigenfaceCount);
  std::vector<double> variances(kEigenfaceCount);
  for (const GreyImage& picture : pictures) {
    const std::vector<float> coordinates = *space.Project(picture);
    for (size_t i = 0; i < kEigenfaceCount; ++i) variances[i] += coordinates[i] * coordinates[i];
  }
  for (size_t a = 0; a < kEigenfaceCount; ++a) {
    for (size_t b = 0; b <= a; ++b) EXPECT_NEAR(dot(a, b), a == b ? 1 : 0, 1e-3);
    if (a > 0) {
      EXPECT_LE(variances[a], variances[a - 1] * 1.0001);
    }
  }
}

// With all eigenfaces a training picture can be reconstructed from its coordinates: no information
// is lost.
TEST(EigenfacesTest, AllEigenfacesSpanTheTrainingPictures) {
  std::vector<GreyImage> pictures;
  for (const FacePicture& face : MakeFaces(kSeed, 2, 4)) pictures.push_back(face.image);
  const FaceModel model = TrainEigenfaces(pictures, 100).value();
  const EigenfaceSpace space = *EigenfaceSpace::Of(model);
  EXPECT_EQ(space.eigenface_count(), pictures.size() - 1);
  const std::vector<float> coordinates = *space.Project(pictures[3]);
  for (int pixel = 0; pixel < model.mean_size(); ++pixel) {
    float value = model.mean(pixel);
    for (size_t i = 0; i < coordinates.size(); ++i) {
      value += coordinates[i] * model.eigenfaces(static_cast<int>(i) * model.mean_size() + pixel);
    }
    const auto original =
        static_cast<unsigned char>(pictures[3].pixels[static_cast<size_t>(pixel)]);
    ASSERT_NEAR(value, original, 0.5) << "pixel " << pixel;
  }
}

TEST(EigenfacesTest, MismatchedSizesAreRefused) {
  const GreyImage small{2, 1, "ab"};
  const GreyImage large{2, 2, "abcd"};
  EXPECT_EQ(TrainEigenfaces({small}, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TrainEigenfaces({small, large}, 1).status().code(), StatusCode::kInvalidArgument);
  const EigenfaceSpace space = *EigenfaceSpace::Of(*TrainEigenfaces({small, {2, 1, "cd"}}, 1));
  EXPECT_EQ(space.Project(large).status().code(), StatusCode::kInvalidArgument);
  FaceModel broken;
  broken.set_width(3);
  EXPECT_EQ(EigenfaceSpace::Of(broken).status().code(), StatusCode::kInvalidArgument);
}

TEST(FaceMatchesTest, MergeIsCommutativeAndAssociativeWithTies) {
  RandomSource random(kSeed);
  for (int round = 0; round < 200; ++round) {
    std::vector<FaceMatches> parts(3);
    int number = 0;
    for (FaceMatches& part : parts) {
      FaceMatches all;
      for (uint64_t i = random.Below(6); i > 0; --i) {
        FaceMatch* const match = all.add_matches();
        match->set_image(StrCat("i", number++));
        match->set_distance(static_cast<float>(random.Below(3)));
      }
      part = MergeFaceMatches(all, FaceMatches(), 4);
    }
    const FaceMatches left = MergeFaceMatches(MergeFaceMatches(parts[0], parts[1], 4), parts[2], 4);
    const FaceMatches right =
        MergeFaceMatches(MergeFaceMatches(parts[2], parts[1], 4), parts[0], 4);
    ASSERT_EQ(left.SerializeAsString(), right.SerializeAsString()) << "round " << round;
  }
}

class FaceTest : public testing::Test {
 protected:
  ExampleClusterOptions Cluster(uint32_t partition_count, uint32_t node_count) {
    const std::string folder = Folder(StrCat("galleries", partition_count));
    EXPECT_TRUE(WriteGalleries(Faces(true), kEigenfaceCount, partition_count, folder).ok());
    ExampleClusterOptions options;
    options.service = "face";
    options.partition_count = partition_count;
    options.node_count = node_count;
    options.parameters["path"] = folder;
    options.module = [] { return std::make_unique<FaceModule>(); };
    options.register_operators = RegisterFaceReduce;
    return options;
  }

  template <typename Cluster>
  static Status Ask(Cluster& cluster, uint32_t partition_count, const std::string& picture,
                    uint32_t match_count_max, FaceMatches* matches, AggregationReport* report) {
    FaceQuery query;
    query.set_picture(picture);
    query.set_match_count_max(match_count_max);
    Status status;
    cluster.RunOnClient([&](ClientSession& session) {
      Data data;
      status = Aggregate(session,
                         FaceAggregation(ServiceName("face"), partition_count, query,
                                         this_thread::Now() + std::chrono::seconds(30)),
                         &data, report);
      if (status.ok()) *matches = **data.As<FaceMatches>();
    });
    return status;
  }

  template <typename Cluster>
  static std::vector<std::string> AnswersToAll(Cluster& cluster, uint32_t partition_count) {
    std::vector<std::string> answers;
    for (const FacePicture& face : Faces(false)) {
      FaceMatches matches;
      AggregationReport report;
      const Status status = Ask(cluster, partition_count, ToPgm(face.image), 7, &matches, &report);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(matches.matches_size(), 7);
      answers.push_back(matches.SerializeAsString());
    }
    return answers;
  }
};

TEST_F(FaceTest, PartitionsAnswerAsOneGalleryDoes) {
  SimulatedExample one(Cluster(1, 1));
  SimulatedExample several(Cluster(kPartitionCount, 3));
  EXPECT_TRUE(AnswersToAll(one, 1) == AnswersToAll(several, kPartitionCount));
}

TEST_F(FaceTest, MostPeopleAreRecognisedInTheRealWorld) {
  RealExample cluster(Cluster(kPartitionCount, 2));
  const std::vector<FacePicture> faces = Faces(false);
  size_t recognized_count = 0;
  for (const FacePicture& face : faces) {
    FaceMatches matches;
    AggregationReport report;
    ASSERT_TRUE(Ask(cluster, kPartitionCount, ToPgm(face.image), 1, &matches, &report).ok());
    if (matches.matches(0).person() == face.person) ++recognized_count;
  }
  std::cerr << recognized_count << " of " << faces.size() << " recognised\n";
  EXPECT_GE(recognized_count * 10, faces.size() * 9);
}

TEST_F(FaceTest, WrongQueriesAreRefusedByEveryPartition) {
  SimulatedExample cluster(Cluster(kPartitionCount, 3));
  const std::string good = ToPgm(Faces(false)[0].image);
  const std::vector<std::pair<std::string, uint32_t>> wrong = {
      {"no picture", 1}, {ToPgm({1, 1, "x"}), 1}, {good, 0}, {good, kFaceMatchCountMax + 1}};
  for (const auto& [picture, count] : wrong) {
    FaceMatches matches;
    AggregationReport report;
    EXPECT_FALSE(Ask(cluster, kPartitionCount, picture, count, &matches, &report).ok());
    ASSERT_EQ(report.missing.size(), kPartitionCount);
    // The first refusal ends the call; outstanding calls are cancelled.
    EXPECT_TRUE(std::any_of(report.missing.begin(), report.missing.end(), [](const auto& missing) {
      return missing.reason.code() == StatusCode::kInvalidArgument;
    }));
  }
}

}  // namespace
}  // namespace neptune::examples
