// The partitions that a service of the index keeps open on its node, in each version of the index.
//
//   spec ── path, versions ──► FollowedVersions ──► OpenVersions: number ──► partitions
//   request ── version number, partition ──► Await ──► the open partition
//
// Shared by index tiers and document servers. A partition that cannot be opened, or that is found
// damaged while it is served, is not announced and answers with the reason; the others are served.
//
//   NoteDamage ──► withdrawn ──1 s──► closed, opened again, all checksums compared
//                              ▲          │ still damaged
//                              └─ delay ──┘ doubles (reopening.h)
//
// So a partition whose files were replaced, mended or only touched is back by itself, and a damaged
// one stays away until its folder is published again or copied from another node. The same goes for
// one that does not open at the start, unless documents change: then its owner opens it.
//
// Reads of a version's partitions run in the dependency capsule of its folder (disk:PATH/**), whose
// helper threads may wait for a disk. If no capsule of the node covers the folder, one named after
// the service is created, and destroyed once the version has left the list.
//
// Threads: DeclareParameters, Start, Stop and Clear by the owner; the others are thread-safe. Files
//   are opened again and read back on a loop of low priority of the service.
// Errors: Start: those of FollowedVersions; without a list of versions, a partition
//   that cannot be opened is not one of them.
//   Await: UNAVAILABLE the version is not open or its partition is not served.

#pragma once

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "index/versions/await_version.h"
#include "index/versions/file_checks.h"
#include "index/versions/followed_versions.h"
#include "index/versions/open_versions.h"
#include "index/versions/reopening.h"
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

// `Partition` can be default-constructed, as one that is not open, and has:
//   std::string path: its folder;
//   Status State(): OK if it can be served;
//   void NoteFailure(const Status&): why it is not;
//   bool NoteDamage(const Status&): it can no longer be served; false: it could not before;
//   bool WaitsForDisk(): true if reads of it may wait for a disk;
//   FileChecks::Check StartCheck() const: reads its files back; empty: they are not;
//   PartitionFacts Facts(uint64_t version).
template <typename Partition>
class VersionedPartitions {
 public:
  // The partitions of one version. To replace one, the map is replaced.
  using Partitions = std::map<neptune::PartitionId, std::shared_ptr<Partition>>;
  // Opens the partition in a folder. The result is never null; its state says whether that failed.
  using Open = std::function<std::unique_ptr<Partition>(neptune::PartitionId id,
                                                        const std::string& directory)>;

  VersionedPartitions() = default;
  ~VersionedPartitions() { Stop(); }
  VersionedPartitions(const VersionedPartitions&) = delete;
  VersionedPartitions& operator=(const VersionedPartitions&) = delete;

  // Declares `path`, `versions` and `file_check_interval_s`.
  void DeclareParameters(neptune::ParameterTable& table) {
    table.RequiredText("path", &path_,
                       "folder with one folder per partition, named by its number; relative to the "
                       "base folder");
    followed_.DeclareParameters(table);
    table.Whole(
        "file_check_interval_s", {0, 31'536'000}, &file_check_interval_s_,
        "seconds between two slow checks of all files against their checksums; 0: files are "
        "checked when they are opened only; default: a day");
  }

  // A partition that was damaged while it was served, and whose files are damaged still.
  struct Unsound {
    neptune::PartitionId id;
    uint64_t list_number = 0;    // of its version, as requests name it; 0: there is no list
    uint64_t index_version = 0;  // what its files were
    std::string directory;
  };
  // Calls `fetch` after each attempt in vain to open such a partition, on the loop of files; it
  // must not wait. Call before Start.
  void FetchUnsound(std::function<void(const Unsound&)> fetch) { fetch_ = std::move(fetch); }

  // Opens the partitions of the current version, and those of others as the list says. `changing`:
  // see FollowedVersions.
  neptune::Status Start(const neptune::ModuleContext& context, const char* changing, Open open) {
    service_ = context.service.value();
    base_directory_ = context.base_directory;
    ids_ = context.partitions;
    capsules_ = &context.client.capsules();
    open_ = std::move(open);
    NEPTUNE_RETURN_IF_ERROR(StartCare(context));
    const auto take = [this](const VersionList* list) {
      const neptune::Status taken =
          versions_.Take(list, [this](const IndexVersion& version, neptune::Status* status) {
            return OpenVersion(version, status);
          });
      KeepCapsules(OpenVersions<Partitions>::Wanted(list));
      return taken;
    };
    NEPTUNE_RETURN_IF_ERROR(followed_.Start(context, changing, take));
    if (changing == nullptr) OpenMissingLater();
    return neptune::OkStatus();
  }
  // Adds the section to the node's status page. REQUIRES: Start succeeded.
  neptune::Status AddStatus(const neptune::ModuleContext& context, const std::string& name) {
    NEPTUNE_ASSIGN_OR_RETURN(section_, context.status.Add(name, [this](auto* report) {
      AddFacts(report);
      report->tables.push_back(Table());
    }));
    return neptune::OkStatus();
  }
  // No version and no partition is opened any more, and no file read back. Idempotent.
  void Stop() {
    followed_.Stop();
    if (checks_ != nullptr) checks_->Stop();
    if (reopening_ != nullptr) reopening_->Stop();
  }
  // Closes all versions once nothing uses them. REQUIRES: Stop returned.
  void Clear() { versions_.Clear(); }

  // Returns the partition of the request in that version, 0: the current one. Waits for a version
  // that is about to be opened. The partition stays open while the result exists.
  neptune::StatusOr<std::shared_ptr<Partition>> Await(const neptune::RequestContext& context,
                                                      uint64_t version) const {
    NEPTUNE_ASSIGN_OR_RETURN(std::shared_ptr<Partitions> opened,
                             AwaitVersion(context, versions_, version));
    const std::shared_ptr<Partition>& partition = opened->at(context.partition());
    if (const neptune::Status state = partition->State(); !state.ok()) {
      return neptune::Unavailable("partition ", context.partition(),
                                  " is not served: ", state.message());
    }
    return partition;
  }

  // Damage was found in an open partition: it is served no longer, and opened again once its files
  // are sound. Any thread; never waits.
  void NoteDamage(neptune::PartitionId id, const std::shared_ptr<Partition>& partition,
                  const neptune::Status& damage) {
    if (!CountDamage(id, *partition, damage)) return;
    Mending mending{partition, false};
    for (const auto& [number, opened] : versions_.all()) {
      const auto found = opened->find(id);
      if (found == opened->end() || found->second != partition) continue;
      mending.list_number = number;
      mending.index_version = partition->Facts(number).index_version;
    }
    OpenLater(id, std::move(mending), damage);
  }
  // The same of a partition that the caller mends in its own way. False: the damage was known.
  bool CountDamage(neptune::PartitionId id, Partition& partition, const neptune::Status& damage) {
    if (!partition.NoteDamage(damage)) return false;
    damaged_count_->Increment();
    LOG(ERROR) << service_ << "/" << id << " is no longer served: " << damage;
    return true;
  }
  void CountReopened() { reopened_count_->Increment(); }
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
  // A damaged partition, or the one in its place, which is not open.
  struct Mending {
    std::shared_ptr<Partition> partition;
    bool is_closed = false;
    uint64_t list_number = 0;
    uint64_t index_version = 0;  // 0: not known
  };

  neptune::Status StartCare(const neptune::ModuleContext& context) {
    const neptune::MetricLabels labels = {{"service", context.service.value()}};
    NEPTUNE_ASSIGN_OR_RETURN(
        damaged_count_,
        context.metrics.AddCounter("search_partitions_damaged_total",
                                   "Partitions found damaged while they were served.", labels));
    NEPTUNE_ASSIGN_OR_RETURN(reopened_count_,
                             context.metrics.AddCounter(
                                 "search_partitions_reopened_total",
                                 "Damaged or missing partitions that were opened again.", labels));
    NEPTUNE_ASSIGN_OR_RETURN(
        files_loop_, context.world.StartLoop({.name = neptune::StrCat(context.service, "-files"),
                                              .priority = neptune::LoopPriority::kBackground}));
    reopening_ = Reopening::Make(*files_loop_);
    if (file_check_interval_s_ == 0) return neptune::OkStatus();
    checks_ = FileChecks::Start(*files_loop_, std::chrono::seconds(file_check_interval_s_),
                                [this] { return PlacesToCheck(); });
    return neptune::OkStatus();
  }

  void OpenLater(neptune::PartitionId id, Mending begun, const neptune::Status& why) {
    const auto mending = std::make_shared<Mending>(std::move(begun));
    Reopening::Task task;
    task.open = [this, id, mending] { return Mend(id, mending.get()); };
    task.on_failure = [mending](const neptune::Status& failure, neptune::Duration delay) {
      mending->partition->NoteFailure(neptune::Status(
          failure.code(),
          neptune::StrCat(neptune::ToStd(failure.message()), "; it is opened again after ",
                          neptune::ToSeconds(delay), " s")));
    };
    files_loop_->Post([reopening = reopening_, task = std::move(task), why]() mutable {
      reopening->Begin(std::move(task), why, kDamageReopenDelay);
    });
  }
  // Nothing else opens a partition that did not open at the start, unless there is a list of
  // versions: then the version is opened again at the next poll.
  void OpenMissingLater() {
    for (const auto& [number, opened] : versions_.all()) {
      if (number != 0) continue;
      for (const auto& [id, partition] : *opened) {
        const neptune::Status state = partition->State();
        if (!state.ok()) OpenLater(id, {partition, true}, state);
      }
    }
  }

  // Partitions may be closed before their turn has come.
  std::vector<FileChecks::Place> PlacesToCheck() {
    std::vector<FileChecks::Place> places;
    for (const auto& [number, opened] : versions_.all()) {
      for (const auto& [id, partition] : *opened) {
        const std::weak_ptr<Partition> known = partition;
        FileChecks::Place& place = places.emplace_back();
        place.start = [known]() -> FileChecks::Check {
          const std::shared_ptr<Partition> open = known.lock();
          if (open == nullptr || !open->State().ok()) return nullptr;
          FileChecks::Check check = open->StartCheck();
          if (check == nullptr) return nullptr;
          return [open, check = std::move(check)](size_t size) { return check(size); };
        };
        place.on_damage = [this, id = id, known](const neptune::Status& damage) {
          if (const auto open = known.lock()) NoteDamage(id, open, damage);
        };
      }
    }
    return places;
  }

  // Replaces a partition wherever it is open. False: it is nowhere, or the versions change now.
  bool Put(neptune::PartitionId id, const std::shared_ptr<Partition>& old,
           std::shared_ptr<Partition> next) {
    for (const auto& [number, opened] : versions_.all()) {
      const auto found = opened->find(id);
      if (found == opened->end() || found->second != old) continue;
      auto replaced = std::make_shared<Partitions>(*opened);
      replaced->at(id) = std::move(next);
      return versions_.Replace(number, opened, std::move(replaced));
    }
    return false;
  }
  bool IsListed(neptune::PartitionId id, const std::shared_ptr<Partition>& partition) const {
    const auto all = versions_.all();
    return std::any_of(all.begin(), all.end(), [&](const auto& version) {
      const auto found = version.second->find(id);
      return found != version.second->end() && found->second == partition;
    });
  }

  // On the loop of files: closes the damaged partition first, so that its memory is free for the
  // new one as soon as no request uses it.
  neptune::Status Mend(neptune::PartitionId id, Mending* mending) {
    const neptune::Status changing = neptune::Unavailable("the list of versions is changing");
    if (!IsListed(id, mending->partition)) return neptune::OkStatus();  // its version is gone
    if (!mending->is_closed) {
      auto closed = std::make_shared<Partition>();
      closed->path = mending->partition->path;
      closed->NoteFailure(mending->partition->State());
      if (!Put(id, mending->partition, closed)) return changing;
      mending->partition = std::move(closed);
      mending->is_closed = true;
    }
    std::shared_ptr<Partition> next = open_(id, mending->partition->path);
    const neptune::Status state = next->State();
    if (!state.ok()) {
      if (fetch_ != nullptr && mending->index_version != 0) {
        fetch_({id, mending->list_number, mending->index_version, mending->partition->path});
      }
      return state;
    }
    if (!Put(id, mending->partition, std::move(next))) return changing;
    CountReopened();
    LOG(INFO) << service_ << "/" << id << " is sound, and served";
    return neptune::OkStatus();
  }

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
      std::shared_ptr<Partition> partition = open_(id, (root / neptune::StrCat(id)).string());
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
  void AddFacts(neptune::StatusReport* report) const {
    report->AddFact("partitions found damaged", damaged_count_->value());
    report->AddFact("partitions opened again", reopened_count_->value());
    if (checks_ == nullptr) return;
    const FileChecks::Standing standing = checks_->standing();
    report->AddFact("file checks that ended", standing.pass_count);
    report->AddFact("bytes checked", standing.checked_size);
  }

  uint32_t file_check_interval_s_ = 86'400;  // fixed before Start
  std::string path_;                         // fixed before Start, those up to open_ by it
  std::string service_;
  std::string base_directory_;
  std::vector<neptune::PartitionId> ids_;
  neptune::CapsuleStack* capsules_ = nullptr;
  neptune::Counter* damaged_count_ = nullptr;
  neptune::Counter* reopened_count_ = nullptr;
  neptune::Loop* files_loop_ = nullptr;
  std::shared_ptr<Reopening> reopening_;
  std::shared_ptr<FileChecks> checks_;  // null: files are not read back
  Open open_;
  std::function<void(const Unsound&)> fetch_;  // fixed before Start; empty: nothing is fetched
  OpenVersions<Partitions> versions_;
  std::map<std::string, std::string> own_capsules_;  // name by folder; changed with the list only
  neptune::StatusSection section_;
  FollowedVersions followed_;  // the last: its end ends all calls of OpenVersion
};

}  // namespace search::index
