#include "neptune/examples/face/face_gallery.h"

#include <filesystem>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace neptune::examples {
namespace {

constexpr size_t kFileSizeMax = size_t{1} << 30;

std::string ModelPath(const std::string& folder) { return folder + "/model"; }
std::string GalleryPath(const std::string& folder, uint32_t partition) {
  return StrCat(folder, "/p", partition);
}

template <typename Message>
StatusOr<Message> ReadMessage(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kFileSizeMax));
  Message message;
  if (!message.ParseFromString(bytes))
    return DataLoss(path, " is not a valid ", message.GetTypeName());
  return message;
}

}  // namespace

Status WriteGalleries(const std::vector<FacePicture>& faces, size_t eigenface_count,
                      uint32_t partition_count, const std::string& folder) {
  std::vector<GreyImage> pictures;
  for (const FacePicture& face : faces) pictures.push_back(face.image);
  NEPTUNE_ASSIGN_OR_RETURN(const FaceModel model, TrainEigenfaces(pictures, eigenface_count));
  NEPTUNE_ASSIGN_OR_RETURN(const EigenfaceSpace space, EigenfaceSpace::Of(model));
  std::vector<FaceGallery> galleries(partition_count);
  for (size_t i = 0; i < faces.size(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<float> coordinates, space.Project(faces[i].image));
    KnownFace* const known = galleries[i % partition_count].add_faces();
    known->set_person(faces[i].person);
    known->set_image(faces[i].name());
    known->mutable_coordinates()->Add(coordinates.begin(), coordinates.end());
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FailedPrecondition("creating directory ", folder, ": ", error.message());
  NEPTUNE_RETURN_IF_ERROR(WriteFileAtomically(ModelPath(folder), model.SerializeAsString()));
  for (uint32_t p = 0; p < partition_count; ++p) {
    NEPTUNE_RETURN_IF_ERROR(
        WriteFileAtomically(GalleryPath(folder, p), galleries[p].SerializeAsString()));
  }
  return OkStatus();
}

StatusOr<FaceModel> ReadFaceModel(const std::string& folder) {
  return ReadMessage<FaceModel>(ModelPath(folder));
}

StatusOr<FaceGallery> ReadGallery(const std::string& folder, uint32_t partition,
                                  const EigenfaceSpace& space) {
  NEPTUNE_ASSIGN_OR_RETURN(FaceGallery gallery,
                           ReadMessage<FaceGallery>(GalleryPath(folder, partition)));
  for (const KnownFace& face : gallery.faces()) {
    if (static_cast<size_t>(face.coordinates_size()) != space.eigenface_count()) {
      return InvalidArgument("face ", face.image(), " has ", face.coordinates_size(),
                             " coordinates, expected ", space.eigenface_count());
    }
  }
  return gallery;
}

}  // namespace neptune::examples
