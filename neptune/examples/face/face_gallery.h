// The files that train_faces writes and the FACE service reads: the model, and the known faces in
// partitions.
//
//   DIRECTORY/model    FaceModel
//   DIRECTORY/p0 ...   FaceGallery of each partition
//
// Threads: pure functions that read and write files.
// Errors: those of the file system; kDataLoss a file is not a valid message; kInvalidArgument faces
//   that do not match the model.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/examples/face/eigenfaces.h"
#include "neptune/examples/face/face.pb.h"
#include "neptune/examples/face/face_image.h"

namespace neptune::examples {

// Trains with the faces and distributes them over the partitions' galleries in turn.
Status WriteGalleries(const std::vector<FacePicture>& faces, size_t eigenface_count,
                      uint32_t partition_count, const std::string& folder);

StatusOr<FaceModel> ReadFaceModel(const std::string& folder);
StatusOr<FaceGallery> ReadGallery(const std::string& folder, uint32_t partition,
                                  const EigenfaceSpace& space);

}  // namespace neptune::examples
