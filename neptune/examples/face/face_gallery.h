// What train_faces writes and the FACE service reads: the model, and the known faces in partitions.
//
//   FOLDER/model    FaceModel
//   FOLDER/p0 ...   FaceGallery of each partition
//
// Threads: pure functions, which read and write files.
// Errors: those of the file system; kDataLoss a file that is no such message; kInvalidArgument faces that do not fit
//   the model.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/examples/face/eigenfaces.h"
#include "neptune/examples/face/face.pb.h"
#include "neptune/examples/face/face_image.h"

namespace neptune::examples {

// Trains with the faces and writes what each partition knows of them, face by face in turn.
Status WriteGalleries(const std::vector<FacePicture>& faces, size_t eigenface_count,
                      uint32_t partition_count, const std::string& folder);

StatusOr<FaceModel> ReadFaceModel(const std::string& folder);
StatusOr<FaceGallery> ReadGallery(const std::string& folder, uint32_t partition,
                                  const EigenfaceSpace& space);

}  // namespace neptune::examples
