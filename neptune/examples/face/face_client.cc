// Sends the pictures that were not used for training to the FACE service of a running cluster, and
// prints how many are recognised.

#include <gflags/gflags.h>

#include <cstdio>

#include "neptune/examples/client/caller_path.h"
#include "neptune/examples/client/example_client.h"
#include "neptune/examples/face/face_aggregation.h"
#include "neptune/examples/face/face_image.h"

DEFINE_string(spec, "neptune/examples/face/cluster.textproto", "spec of the running cluster");
DEFINE_string(pictures, "data/var/face/pictures", "directory with PERSON/NUMBER.pgm");
DEFINE_int32(train, 5, "only pictures with a larger NUMBER are sent");
DEFINE_bool(verbose, false, "also print every answer");
DEFINE_int32(timeout_ms, 5000, "deadline of each query in milliseconds");

namespace {

using neptune::Status;
using neptune::examples::FaceMatches;
using neptune::examples::FacePicture;

neptune::StatusOr<std::string> Recognize(neptune::ClientSession& session, uint32_t partition_count,
                                         const FacePicture& face) {
  neptune::examples::FaceQuery query;
  query.set_picture(neptune::examples::ToPgm(face.image));
  query.set_match_count_max(1);
  neptune::Data data;
  neptune::AggregationReport report;
  NEPTUNE_RETURN_IF_ERROR(neptune::Aggregate(
      session,
      neptune::examples::FaceAggregation(
          neptune::ServiceName("face"), partition_count, query,
          neptune::this_thread::Now() + std::chrono::milliseconds(FLAGS_timeout_ms)),
      &data, &report));
  NEPTUNE_ASSIGN_OR_RETURN(const FaceMatches* const found, data.As<FaceMatches>());
  return found->matches().empty() ? std::string() : found->matches(0).person();
}

Status ShowAll(neptune::ClientSession& session, uint32_t partition_count) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const std::vector<FacePicture> faces,
      neptune::examples::ReadFaces(neptune::examples::CallerPath(FLAGS_pictures)));
  int shown_count = 0;
  int recognized_count = 0;
  const neptune::TimePoint begin = neptune::this_thread::Now();
  for (const FacePicture& face : faces) {
    if (face.number <= static_cast<uint32_t>(FLAGS_train)) continue;
    NEPTUNE_ASSIGN_OR_RETURN(const std::string person, Recognize(session, partition_count, face));
    ++shown_count;
    if (person == face.person) ++recognized_count;
    if (FLAGS_verbose) std::printf("%s: %s\n", face.name().c_str(), person.c_str());
  }
  if (shown_count == 0) return neptune::NotFound("no picture has a number above --train");
  std::printf("%d of %d recognised: %.1f %%, %.2f ms each\n", recognized_count, shown_count,
              100.0 * recognized_count / shown_count,
              neptune::ToMillis(neptune::this_thread::Now() - begin) / shown_count);
  return neptune::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "sends faces to the FACE service of a running cluster",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("face"),
       .register_operators = neptune::examples::RegisterFaceReduce,
       .ask = ShowAll});
}
