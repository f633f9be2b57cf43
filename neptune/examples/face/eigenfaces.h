// Eigenfaces: a face is a point in the space of the largest eigenvectors of the training faces'
// covariance; similar faces are near each other.
//
//   training:  mean of the pictures; eigenvectors of (pictures - mean); offline
//   a face:    coordinate i = eigenface i · (picture - mean)
//
// Source: [Turk91]; [Chu03] 5.1 (FACE).
// Threads: EigenfaceSpace is immutable.
// Errors: kInvalidArgument pictures of different sizes, no pictures, or an inconsistent model.
// Limits: kEigenfaceCountMax eigenfaces.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/examples/face/face.pb.h"
#include "neptune/examples/face/face_image.h"

namespace neptune::examples {

inline constexpr size_t kEigenfaceCountMax = 1000;

// Returns fewer eigenfaces than there are pictures, because further ones would be zero. O(pictures²
// · pixels).
StatusOr<FaceModel> TrainEigenfaces(const std::vector<GreyImage>& pictures, size_t eigenface_count);

class EigenfaceSpace {
 public:
  static StatusOr<EigenfaceSpace> Of(FaceModel model);

  // Returns the picture's coordinates. Errors: kInvalidArgument the size differs from the model's.
  StatusOr<std::vector<float>> Project(const GreyImage& picture) const;
  size_t eigenface_count() const;

 private:
  explicit EigenfaceSpace(FaceModel model) : model_(std::move(model)) {}

  FaceModel model_;
};

// Returns the gallery's nearest faces; equal distances are ordered by image name.
FaceMatches NearestFaces(const FaceGallery& gallery, const std::vector<float>& coordinates,
                         uint32_t match_count_max);

// Returns the nearest of both, which come from disjoint sets of partitions. Commutative and
// associative.
FaceMatches MergeFaceMatches(const FaceMatches& a, const FaceMatches& b, uint32_t match_count_max);

}  // namespace neptune::examples
