// The partitions that a service of the index keeps open on its node, in each version of the index.
//
//   spec ── path, versions ──► FollowedVersions ──► OpenVersions: number ──► partitions
//   request ── version number, partition ──► Await ──► the open partition
//
// Shared by index tiers and document servers. A partition that cannot be opened, or that is found
// damaged while it is served, is not announced and answers with the reason; the others are served.
//
// Reads of a version's partitions run in the dependency capsule of its folder (disk:PATH/**), whose
// helper threads may wait for a disk. If no capsule of the node covers the folder, one named after
// the service is created, and destroyed once the version has left the list.
//
// Threads: DeclareParameters, Start, Stop and Clear by the owner; the others are thread-safe.
// Errors: Start: those of FollowedVersions; without a list of versions, a partition
//   that cannot be opened is not one of them.
//   Await: UNAVAILABLE the version is not open or its partition is not served.

#pragma once

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "index/versions/await_version.h"
#include "index/versions/followed_versions.h"
#include "index/versions/open_versions.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/client.h"
#include "neptune/service/parameter_table.h"
#include "neptune/service/service_module.h"

namespace search::index {

// A row of the status page.
struct PartitionFacts {
  std::string implementation;
  uint64_t index_version = 0;
  uint64_t document_count = 0;
};

// `Partition` has: Status State(), OK if it can be served; bool WaitsForDisk(), true if reads of it
// may wait for a disk; PartitionFacts Facts(uint64_t version).
template <typename Partition>
class VersionedPartitions {
 public:
  // The partitions of one version; fixed once it is open.
  using Partitions = std::map<neptune::PartitionId, std::unique_ptr<Partition>>;
  // Opens the partition in a folder. The result is never null; its state says whether that failed.
  using Open = std::function<std::unique_ptr<Partition>(neptune::PartitionId id,
                                                        const std::string& directory)>;

  // Declares `path` and `versions`.
  void DeclareParameters(neptune::ParameterTable& table) {
    table.RequiredText("path", &path_,
                       "folder with one folder per partition, named by its number; relative to the "
                       "base folder");
    followed_.DeclareParameters(table);
  }

  // Opens the partitions of the current version, and those of others as the list says. `changing`:
  // see FollowedVersions.
  neptune::Status Start(const neptune::ModuleContext& context, const char* changing, Open open) {
    service_ = context.service.value();
    base_directory_ = context.base_directory;
    ids_ = context.partitions;
    capsules_ = &context.client.capsules();
    open_ = std::move(open);
    return followed_.Start(context, changing, [this](const VersionList* list) {
      const neptune::Status taken =
          versions_.Take(list, [this](const IndexVersion& version, neptune::Status* status) {
            return OpenVersion(version, status);
          });
      KeepCapsules(OpenVersions<Partitions>::Wanted(list));
      return taken;
    });
  }
  // Adds the section to the node's status page. REQUIRES: Start succeeded.
  neptune::Status AddStatus(const neptune::ModuleContext& context, const std::string& name) {
    NEPTUNE_ASSIGN_OR_RETURN(section_, context.status.Add(name, [this](auto* report) {
      report->tables.push_back(Table());
    }));
    return neptune::OkStatus();
  }
  // No version is opened any more. Idempotent.
  void Stop() { followed_.Stop(); }
  // Closes all versions once nothing uses them. REQUIRES: Stop returned.
  void Clear() { versions_.Clear(); }

  // Returns the partition of the request in that version, 0: the current one. Waits for a version
  // that is about to be opened. The partition stays open while the result exists.
  neptune::StatusOr<std::shared_ptr<Partition>> Await(const neptune::RequestContext& context,
                                                      uint64_t version) const {
    NEPTUNE_ASSIGN_OR_RETURN(std::shared_ptr<Partitions> opened,
                             AwaitVersion(context, versions_, version));
    Partition* const partition = opened->at(context.partition()).get();
    if (const neptune::Status state = partition->State(); !state.ok()) {
      return neptune::Unavailable("partition ", context.partition(),
                                  " is not served: ", state.message());
    }
    return std::shared_ptr<Partition>(std::move(opened), partition);
  }
  // The state of the partition in the current version, for ServiceModule::Health.
  neptune::Status Health(neptune::PartitionId id) const {
    const std::shared_ptr<Partitions> current = Current();
    if (current == nullptr) return neptune::Unavailable("no version is open");
    const auto found = current->find(id);
    return found == current->end() ? neptune::NotFound("partition ", id) : found->second->State();
  }
  // Null: the current version is not open.
  std::shared_ptr<Partitions> Current() const { return versions_.Find(0); }
  // The node's capsules, in which reads wait for a disk. REQUIRES: Start was called.
  neptune::CapsuleStack& capsules() const { return *capsules_; }

 private:
  // The folder with the version's partitions.
  std::filesystem::path RootOf(const IndexVersion& version) const {
    return std::filesystem::absolute(std::filesystem::path(base_directory_) / version.folder /
                                     path_)
        .lexically_normal();
  }

  // `status`: the error of the first partition that does not open.
  std::shared_ptr<Partitions> OpenVersion(const IndexVersion& version, neptune::Status* status) {
    const std::filesystem::path root = RootOf(version);
    auto opened = std::make_shared<Partitions>();
    for (const neptune::PartitionId& id : ids_) {
      auto partition = open_(id, (root / neptune::StrCat(id)).string());
      const neptune::Status state = partition->State();
      LOG_IF(ERROR, !state.ok()) << service_ << "/" << id << " " << version.name
                                 << " is not served: " << state;
      status->Update(state);
      opened->emplace(id, std::move(partition));
    }
    return opened;
  }

  // Destroys the capsules of versions that left the list, and creates those that are needed.
  void KeepCapsules(const std::vector<IndexVersion>& listed) {
    std::set<std::string> roots;
    for (const IndexVersion& version : listed) roots.insert(RootOf(version).string());
    std::erase_if(own_capsules_, [&](const auto& root_and_name) {
      if (roots.contains(root_and_name.first)) return false;
      const neptune::Status destroyed = capsules_->Destroy(root_and_name.second);
      LOG_IF(WARNING, !destroyed.ok()) << destroyed;
      return true;
    });
    for (const IndexVersion& version : listed) {
      const std::shared_ptr<Partitions> opened = versions_.Find(version.index_version);
      if (opened != nullptr) MakeCapsule(*opened, version.name, RootOf(version).string());
    }
  }

  void MakeCapsule(const Partitions& opened, const std::string& version, const std::string& root) {
    const auto waits = [](const auto& entry) { return entry.second->WaitsForDisk(); };
    if (std::none_of(opened.begin(), opened.end(), waits)) return;
    const std::string name =
        neptune::StrCat(service_, "-store", version.empty() ? "" : "-", version);
    const bool is_there = capsules_->Named(name) != nullptr;
    const neptune::Status made = neptune::MakeDeviceCapsule(*capsules_, name, root);
    LOG_IF(WARNING, !made.ok()) << "reads of " << service_ << " block its workers: " << made;
    if (!is_there && capsules_->Named(name) != nullptr) own_capsules_.emplace(root, name);
  }

  neptune::StatusTable Table() const {
    neptune::StatusTable table{
        "Partitions", {"partition", "implementation", "version", "documents", "state"}, {}};
    for (const auto& [number, opened] : versions_.all()) {
      for (const auto& [id, partition] : *opened) {
        const PartitionFacts facts = partition->Facts(number);
        const neptune::Status state = partition->State();
        table.AddRow(id.value(), facts.implementation, facts.index_version, facts.document_count,
                     state.ok() ? std::string("serving") : state.ToString());
      }
    }
    return table;
  }

  std::string path_;  // fixed before Start, the next five by it
  std::string service_;
  std::string base_directory_;
  std::vector<neptune::PartitionId> ids_;
  neptune::CapsuleStack* capsules_ = nullptr;
  Open open_;
  OpenVersions<Partitions> versions_;
  std::map<std::string, std::string> own_capsules_;  // name by folder; changed with the list only
  neptune::StatusSection section_;
  FollowedVersions followed_;  // the last: its end ends all calls of OpenVersion
};

}  // namespace search::index
