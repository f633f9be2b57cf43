// FACE: whose face is on a picture? Each partition knows some of the faces.
//
//   Recognize   long, local operator: FaceQuery → FaceMatches of the partition
//
// Parameters of the service or node:
//   path   the folder that train_faces wrote. Required.
//
// Source: [Chu03] 5.1 (FACE). Threads: as ServiceModule says.
// Errors: Start: those of face_gallery.h. Recognize: kInvalidArgument no FaceQuery, no picture of the model's size, or
//   match_count_max outside 1 to kFaceMatchCountMax.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "neptune/examples/face/eigenfaces.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kFaceMethod[] = "Recognize";
inline constexpr uint32_t kFaceMatchCountMax = 1000;

class FaceModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "eigenfaces"; }

 private:
  Status Recognize(RequestContext& context, const Data& request, Data* response) const;

  std::optional<EigenfaceSpace> space_;  // fixed after Start, as the galleries
  std::map<PartitionId, FaceGallery> galleries_;
};

}  // namespace neptune::examples
