#include "neptune/examples/face/face_module.h"

#include "neptune/base/strings.h"
#include "neptune/examples/face/face_aggregation.h"
#include "neptune/examples/face/face_gallery.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {

void FaceModule::DeclareParameters(ParameterTable& table) {
  table.RequiredText("path", &path_, "the directory that train_faces wrote");
}

Status FaceModule::Start(ModuleContext& context) {
  const std::string folder =
      path_.starts_with('/') ? path_ : StrCat(context.base_directory, "/", path_);
  NEPTUNE_ASSIGN_OR_RETURN(FaceModel model, ReadFaceModel(folder));
  NEPTUNE_ASSIGN_OR_RETURN(space_, EigenfaceSpace::Of(std::move(model)));
  for (const PartitionId& partition : context.partitions) {
    NEPTUNE_ASSIGN_OR_RETURN(galleries_[partition],
                             ReadGallery(folder, partition.value(), *space_));
  }
  context.registrar.Method(MethodName(kFaceMethod), {.grain = Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Recognize(request, in, out);
                           });
  RegisterFaceReduce(context);
  return OkStatus();
}

Status FaceModule::Recognize(RequestContext& context, const Data& request, Data* response) const {
  NEPTUNE_ASSIGN_OR_RETURN(const FaceQuery* const query, request.As<FaceQuery>());
  if (query->match_count_max() < 1 || query->match_count_max() > kFaceMatchCountMax) {
    return InvalidArgument("match_count_max ", query->match_count_max(), ", expected 1 to ",
                           kFaceMatchCountMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const GreyImage picture, ParsePgm(query->picture()));
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<float> coordinates, space_->Project(picture));
  *response = Data::Of(
      NearestFaces(galleries_.at(context.partition()), coordinates, query->match_count_max()));
  return OkStatus();
}

}  // namespace neptune::examples
