#include "index/versions/followed_versions.h"

#include <filesystem>
#include <utility>

#include "neptune/base/strings.h"

namespace search::index {

using neptune::Status;

void FollowedVersions::DeclareParameters(neptune::ParameterTable& table) {
  table.Text("versions", &list_,
             "list of the versions that are kept open (index/versions), relative to the base "
             "folder; other paths are then inside each version's folder; excludes documents that "
             "change; default: one version");
}

Status FollowedVersions::Start(const neptune::ModuleContext& context, const char* changing,
                               VersionWatch::Take take, std::function<bool()> is_ready) {
  if (list_.empty()) return take(nullptr);
  if (changing != nullptr) {
    return neptune::InvalidArgument("parameters ", changing, " and versions exclude each other: ",
                                    "a change applies only to the version it was made on");
  }
  const std::string& service = context.service.value();
  const auto path = std::filesystem::path(context.base_directory) / list_;
  NEPTUNE_ASSIGN_OR_RETURN(watch_, VersionWatch::Start(context.world, service + "-versions",
                                                       path.string(), std::move(take)));
  NEPTUNE_ASSIGN_OR_RETURN(
      section_, context.status.Add(VersionSectionName(service),
                                   [watch = watch_, is_ready = std::move(is_ready)](auto* report) {
                                     watch->Describe(report, is_ready == nullptr || is_ready());
                                   }));
  return neptune::OkStatus();
}

void FollowedVersions::Stop() {
  if (watch_ != nullptr) watch_->Stop();
}

}  // namespace search::index
