// Trains eigenfaces and writes the partitions of the FACE service.

#include <gflags/gflags.h>

#include <cstdio>

#include "neptune/examples/client/caller_path.h"
#include "neptune/examples/face/face_gallery.h"

DEFINE_string(input, "", "directory with PERSON/NUMBER.pgm; empty: synthetic faces");
DEFINE_uint64(seed, 1, "seed of the synthetic faces");
DEFINE_int32(train, 5, "number of training pictures of each person");
DEFINE_int32(eigenfaces, 50, "number of eigenfaces");
DEFINE_int32(partitions, 4, "number of partitions");
DEFINE_string(out, "data/var/face",
              "output directory; synthetic faces are also written, to pictures/");

namespace {

using neptune::examples::FacePicture;

constexpr uint32_t kMadePersonCount = 40;
constexpr uint32_t kMadePictureCount = 10;

neptune::StatusOr<std::vector<FacePicture>> Faces(const std::string& out) {
  if (!FLAGS_input.empty()) {
    return neptune::examples::ReadFaces(neptune::examples::CallerPath(FLAGS_input));
  }
  std::vector<FacePicture> faces =
      neptune::examples::MakeFaces(FLAGS_seed, kMadePersonCount, kMadePictureCount);
  NEPTUNE_RETURN_IF_ERROR(neptune::examples::WriteFaces(faces, out + "/pictures"));
  return faces;
}

neptune::Status Train() {
  const std::string out = neptune::examples::CallerPath(FLAGS_out);
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<FacePicture> faces, Faces(out));
  std::erase_if(faces, [](const FacePicture& face) {
    return face.number > static_cast<uint32_t>(FLAGS_train);
  });
  NEPTUNE_RETURN_IF_ERROR(neptune::examples::WriteGalleries(
      faces, static_cast<size_t>(FLAGS_eigenfaces), static_cast<uint32_t>(FLAGS_partitions), out));
  std::printf("%zu pictures learnt, in %d partitions in %s\n", faces.size(), FLAGS_partitions,
              out.c_str());
  return neptune::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage("trains eigenfaces and writes the partitions of the FACE service");
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_train < 1 || FLAGS_eigenfaces < 1 || FLAGS_partitions < 1 || FLAGS_partitions > 1024) {
    std::fprintf(stderr, "--train, --eigenfaces and --partitions must be at least 1\n");
    return 2;
  }
  const neptune::Status status = Train();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
