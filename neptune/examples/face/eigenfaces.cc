#include "neptune/examples/face/eigenfaces.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Dense>
#include <tuple>
#include <utility>

namespace neptune::examples {
namespace {

// Makes a matrix with one picture in each column.
Eigen::MatrixXf ToMatrix(const std::vector<GreyImage>& pictures) {
  Eigen::MatrixXf matrix(pictures[0].pixels.size(), pictures.size());
  for (size_t i = 0; i < pictures.size(); ++i) {
    for (size_t pixel = 0; pixel < pictures[i].pixels.size(); ++pixel) {
      matrix(static_cast<Eigen::Index>(pixel), static_cast<Eigen::Index>(i)) =
          static_cast<unsigned char>(pictures[i].pixels[pixel]);
    }
  }
  return matrix;
}

void KeepNearest(uint32_t match_count_max, FaceMatches* matches) {
  auto& all = *matches->mutable_matches();
  const int kept = std::min(all.size(), static_cast<int>(match_count_max));
  std::partial_sort(all.begin(), all.begin() + kept, all.end(), [](const auto& a, const auto& b) {
    return std::forward_as_tuple(a.distance(), a.image()) <
           std::forward_as_tuple(b.distance(), b.image());
  });
  all.DeleteSubrange(kept, all.size() - kept);
}

}  // namespace

// There are fewer pictures than pixels, so the eigenvectors are computed from the small matrix of
// the pictures' inner products: if v is one of its eigenvectors, (pictures - mean) v is one of the
// covariance's.
StatusOr<FaceModel> TrainEigenfaces(const std::vector<GreyImage>& pictures,
                                    size_t eigenface_count) {
  if (pictures.size() < 2) return InvalidArgument("training needs at least two pictures");
  for (const GreyImage& picture : pictures) {
    if (picture.width != pictures[0].width || picture.height != pictures[0].height) {
      return InvalidArgument("pictures differ in size: ", pictures[0].width, " x ",
                             pictures[0].height, " and ", picture.width, " x ", picture.height);
    }
  }
  eigenface_count = std::min({eigenface_count, pictures.size() - 1, kEigenfaceCountMax});
  Eigen::MatrixXf differences = ToMatrix(pictures);
  const Eigen::VectorXf mean = differences.rowwise().mean();
  differences.colwise() -= mean;
  const Eigen::MatrixXd products = (differences.transpose() * differences).cast<double>();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);
  FaceModel model;
  model.set_width(pictures[0].width);
  model.set_height(pictures[0].height);
  model.mutable_mean()->Add(mean.begin(), mean.end());
  for (size_t i = 0; i < eigenface_count; ++i) {  // eigenvalues are in ascending order
    const Eigen::Index column = products.cols() - 1 - static_cast<Eigen::Index>(i);
    const Eigen::VectorXf eigenface =
        (differences * solver.eigenvectors().col(column).cast<float>()).normalized();
    model.mutable_eigenfaces()->Add(eigenface.begin(), eigenface.end());
  }
  return model;
}

StatusOr<EigenfaceSpace> EigenfaceSpace::Of(FaceModel model) {
  const size_t pixel_count = size_t{model.width()} * model.height();
  const auto eigenface_size = static_cast<size_t>(model.eigenfaces_size());
  if (pixel_count == 0 || static_cast<size_t>(model.mean_size()) != pixel_count ||
      eigenface_size % pixel_count != 0) {
    return InvalidArgument("inconsistent model: ", model.width(), " x ", model.height(),
                           " pixels with ", model.mean_size(), " and ", model.eigenfaces_size(),
                           " numbers");
  }
  return EigenfaceSpace(std::move(model));
}

size_t EigenfaceSpace::eigenface_count() const {
  return static_cast<size_t>(model_.eigenfaces_size()) / (size_t{model_.width()} * model_.height());
}

StatusOr<std::vector<float>> EigenfaceSpace::Project(const GreyImage& picture) const {
  if (picture.width != model_.width() || picture.height != model_.height()) {
    return InvalidArgument("the picture has ", picture.width, " x ", picture.height,
                           " pixels, expected ", model_.width(), " x ", model_.height());
  }
  const auto pixel_count = static_cast<Eigen::Index>(model_.mean_size());
  const auto count = static_cast<Eigen::Index>(eigenface_count());
  const Eigen::Map<const Eigen::VectorXf> mean(model_.mean().data(), pixel_count);
  const Eigen::Map<const Eigen::MatrixXf> eigenfaces(model_.eigenfaces().data(), pixel_count,
                                                     count);
  const Eigen::VectorXf difference = ToMatrix({picture}).col(0) - mean;
  const Eigen::VectorXf coordinates = eigenfaces.transpose() * difference;
  return std::vector<float>(coordinates.begin(), coordinates.end());
}

FaceMatches NearestFaces(const FaceGallery& gallery, const std::vector<float>& coordinates,
                         uint32_t match_count_max) {
  FaceMatches matches;
  for (const KnownFace& face : gallery.faces()) {
    float square = 0;
    for (size_t i = 0; i < coordinates.size(); ++i) {
      const float difference = coordinates[i] - face.coordinates(static_cast<int>(i));
      square += difference * difference;
    }
    FaceMatch* const match = matches.add_matches();
    match->set_person(face.person());
    match->set_image(face.image());
    match->set_distance(std::sqrt(square));
  }
  KeepNearest(match_count_max, &matches);
  return matches;
}

FaceMatches MergeFaceMatches(const FaceMatches& a, const FaceMatches& b, uint32_t match_count_max) {
  FaceMatches merged = a;
  merged.mutable_matches()->Add(b.matches().begin(), b.matches().end());
  KeepNearest(match_count_max, &merged);
  return merged;
}

}  // namespace neptune::examples
