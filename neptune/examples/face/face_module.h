// FACE: identifies the person on a picture. Each partition knows some of the faces.
//
//   Recognize   long, local operator: FaceQuery → FaceMatches of the partition
//
// Source: [Chu03] 5.1 (FACE).
// Threads: see ServiceModule.
// Errors: Start: those of face_gallery.h. Recognize: kInvalidArgument the request is not a
//   FaceQuery, the picture does not have the model's size, or match_count_max is not 1 to
//   kFaceMatchCountMax.

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
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "eigenfaces"; }

 private:
  Status Recognize(RequestContext& context, const Data& request, Data* response) const;

  std::string path_;                     // fixed before Start
  std::optional<EigenfaceSpace> space_;  // fixed after Start, like the galleries
  std::map<PartitionId, FaceGallery> galleries_;
};

}  // namespace neptune::examples
