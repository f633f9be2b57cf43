#include "tools/publish/publication.h"

#include <utility>

namespace search::tools {
namespace {

using index::VersionList;
using neptune::Status;
using neptune::StatusOr;

Status Change(const VersionList& list, VersionHost& host) {
  NEPTUNE_RETURN_IF_ERROR(host.Store(list));
  return host.Await(list);
}

StatusOr<VersionList> Existing(VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(std::optional<VersionList> list, host.Load());
  if (list) return *std::move(list);
  return neptune::FailedPrecondition("nothing has been published here yet");
}

// Opens the new version on every node; on an error nothing has changed.
StatusOr<VersionList> Open(const VersionList& list, const PublishOrder& order, VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(VersionList with, index::AddVersion(list, order.version));
  const Status opened = Change(with, host);
  if (opened.ok()) return with;
  // Also if it was listed before and not in use: an unfinished publication.
  if (with.current == order.version.name || with.previous == order.version.name) return opened;
  NEPTUNE_ASSIGN_OR_RETURN(const VersionList without,
                           index::RemoveVersion(with, order.version.name));
  NEPTUNE_RETURN_IF_ERROR(host.Store(without));
  return neptune::Annotate(opened, "the cluster continues without it");
}

}  // namespace

StatusOr<VersionList> Publish(const PublishOrder& order, VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(std::optional<VersionList> list, host.Load());
  if (!list) {
    const bool is_first = !order.base || order.base->index_version == order.version.index_version;
    NEPTUNE_ASSIGN_OR_RETURN(list, FirstVersionList(is_first ? order.version : *order.base));
  }
  NEPTUNE_ASSIGN_OR_RETURN(VersionList next, Open(*list, order, host));
  NEPTUNE_ASSIGN_OR_RETURN(next, index::MakeCurrent(next, order.version.name));
  NEPTUNE_RETURN_IF_ERROR(Change(next, host));
  for (const std::string& name : index::Superfluous(next, order.keep_count)) {
    NEPTUNE_ASSIGN_OR_RETURN(next, Remove(name, host));
  }
  return next;
}

StatusOr<VersionList> GoBack(VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(const VersionList list, Existing(host));
  NEPTUNE_ASSIGN_OR_RETURN(VersionList back, index::RollBack(list));
  NEPTUNE_RETURN_IF_ERROR(Change(back, host));
  return back;
}

StatusOr<VersionList> Remove(const std::string& name, VersionHost& host) {
  NEPTUNE_ASSIGN_OR_RETURN(const VersionList list, Existing(host));
  NEPTUNE_ASSIGN_OR_RETURN(VersionList without, index::RemoveVersion(list, name));
  NEPTUNE_RETURN_IF_ERROR(Change(without, host));
  return without;
}

}  // namespace search::tools
