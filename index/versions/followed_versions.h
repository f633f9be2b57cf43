// The list of versions as a service follows it: the parameter `versions` with its path, the watch
// that polls it, and the section of the status page that shows the list in use.
//
// Threads: DeclareParameters, Start and Stop by the owner; `take` as in version_watch.h.
// Errors: Start: INVALID_ARGUMENT documents change here; those of VersionWatch::Start.

#pragma once

#include <memory>
#include <string>

#include "index/versions/version_watch.h"
#include "neptune/service/parameter_table.h"
#include "neptune/service/service_module.h"

namespace search::index {

class FollowedVersions {
 public:
  ~FollowedVersions() { Stop(); }

  // Declares `versions`.
  void DeclareParameters(neptune::ParameterTable& table);

  // Calls `take` with the list; with null, and once, if the spec names no list. `changing`: the
  // parameter by which documents change here, which excludes a list; null: they do not change.
  // `is_ready`: false while the service prepares for the list that it took last; any thread may
  // call it, as long as the context's status is shown. Null: it is always ready.
  neptune::Status Start(const neptune::ModuleContext& context, const char* changing,
                        VersionWatch::Take take, std::function<bool()> is_ready = nullptr);
  // Waits for the current poll; `take` is not called afterwards. Idempotent.
  void Stop();

 private:
  std::string list_;                     // fixed before Start; empty: one version
  std::shared_ptr<VersionWatch> watch_;  // null: one version
  neptune::StatusSection section_;
};

}  // namespace search::index
