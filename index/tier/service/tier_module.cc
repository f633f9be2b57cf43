#include "index/tier/service/tier_module.h"

#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "index/tier/suggest.pb.h"
#include "index/tier/suggest_operators.h"
#include "index/tier/suggest_reduce.h"
#include "index/tier/tier.pb.h"
#include "index/tier/tier_reduce.h"
#include "index/tier/tier_service.h"
#include "index/versions/await_version.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/client.h"

namespace search::index {

using neptune::Data;
using neptune::ModuleContext;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

namespace {

// Time that a search on a helper thread reserves for returning its answer: an eighth of the
// remaining time, but no more than this. Larger: searches cut short examine less; smaller: their
// answers arrive too late.
constexpr neptune::Duration kAnswerTimeMax = std::chrono::milliseconds(10);

Status ReadSecondPhaseCountMax(const std::map<std::string, std::string>& parameters,
                               uint32_t* count_max) {
  const auto given = parameters.find("second_phase_count_max");
  if (given == parameters.end()) return neptune::OkStatus();
  const std::string& text = given->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *count_max);
  if (error != std::errc() || end != text.data() + text.size() || *count_max > kTierHitCountMax) {
    return neptune::InvalidArgument("second_phase_count_max is '", text, "', not 0 to ",
                                    kTierHitCountMax);
  }
  return neptune::OkStatus();
}

}  // namespace

Status TierModule::StateOf(const Partition& partition) {
  if (partition.damaged) return neptune::DataLoss("damage was found while serving");
  return partition.status;
}

template <typename Question, typename Work>
void TierModule::AddMethod(neptune::ServiceRegistrar& registrar, const char* name,
                           neptune::Grain grain, Work work) {
  registrar.Method(
      neptune::MethodName(name), {.grain = grain},
      [this, work](RequestContext& context, const Data& request, Data* response) -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(const Question* const question, request.As<Question>());
        const auto answer = [&](const IndexTier& tier, const TierSearchControl& control) {
          return work(tier, *question, control);
        };
        return Answer(context, question->index_version(), answer, response);
      });
}

template <typename Work>
Status TierModule::Answer(RequestContext& context, uint64_t version, const Work& work,
                          Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Version> asked,
                           AwaitVersion(context, versions_, version));
  Partition& partition = *asked->partitions.at(context.partition());
  if (const Status state = StateOf(partition); !state.ok()) {
    return neptune::Unavailable("partition ", context.partition(),
                                " is not served: ", state.message());
  }
  auto answer = work(*partition.tier, ControlOf(context, partition));
  if (answer.status().code() == neptune::StatusCode::kDataLoss) {
    LOG_IF(ERROR, !partition.damaged.exchange(true))
        << "partition " << context.partition() << " is no longer served: " << answer.status();
    return neptune::Unavailable("partition ", context.partition(),
                                " is damaged: ", answer.status().message());
  }
  NEPTUNE_RETURN_IF_ERROR(answer.status());
  *response = Data::Of(*std::move(answer));
  return neptune::OkStatus();
}

TierSearchControl TierModule::ControlOf(RequestContext& context, const Partition& partition) const {
  TierSearchControl control;
  control.deadline = context.deadline();
  control.now = [&context] { return context.Now(); };
  control.stop = [&context] { return context.ShouldStop(); };
  if (capsules_ == nullptr) return control;
  const neptune::TimePoint now = context.Now();
  const neptune::Duration answering = std::min<neptune::Duration>(
      kAnswerTimeMax, std::max(context.deadline() - now, neptune::Duration::zero()) / 8);
  control.stop_read = [call = context.call(), loop = neptune::Loop::Current(),
                       end = context.deadline() - answering] {
    return (call != nullptr && IsCancelled(*call)) || loop->Now() >= end;
  };
  control.read = [this, &context, &partition](std::function<void()> read) {
    return neptune::RunTaskOnDevice(*capsules_, partition.path, std::move(read),
                                    {.deadline = context.deadline(),
                                     .caller = context.origin().handler,
                                     .service_class = context.service_class()});
  };
  return control;
}

Status TierModule::Start(ModuleContext& context) {
  const auto path = context.parameters.find("path");
  if (path == context.parameters.end()) {
    return neptune::InvalidArgument("an index tier needs the parameter 'path'");
  }
  service_ = context.service.value();
  base_directory_ = context.base_directory;
  path_ = path->second;
  wanted_ = context.parameters["implementation"];
  ids_ = context.partitions;
  capsules_ = &context.client.capsules();
  NEPTUNE_RETURN_IF_ERROR(ReadSecondPhaseCountMax(context.parameters, &second_phase_count_max_));
  if (const auto live = context.parameters.find("live_path"); live != context.parameters.end()) {
    const auto working = std::filesystem::path(context.base_directory) / live->second;
    NEPTUNE_ASSIGN_OR_RETURN(live_, LivePartitions::Start(context, working.string()));
  }
  NEPTUNE_RETURN_IF_ERROR(StartVersions(context, context.parameters["versions"]));
  if (live_ != nullptr) NEPTUNE_RETURN_IF_ERROR(live_->StartMaintenance());
  AddMethod<TierQuery>(
      context.registrar, kTierSearchMethod, neptune::Grain::kLong,
      [this](const IndexTier& tier, const TierQuery& query, const TierSearchControl& control) {
        return LocalOperator(tier, Limited(query), control);
      });
  RegisterTierReduceOperator(context.registrar);
  AddMethod<SuggestQuery>(context.registrar, kTierSuggestMethod, neptune::Grain::kShort,
                          [](const IndexTier& tier, const SuggestQuery& query, const auto&) {
                            return SuggestOperator(tier, query);
                          });
  AddMethod<SpellQuery>(context.registrar, kTierSpellMethod, neptune::Grain::kLong,
                        [](const IndexTier& tier, const SpellQuery& query, const auto&) {
                          return SpellOperator(tier, query);
                        });
  AddMethod<CountQuery>(context.registrar, kTierCountMethod, neptune::Grain::kLong, CountOperator);
  RegisterSuggestReduceOperators(context.registrar);
  return AddStatus(context);
}

Status TierModule::StartVersions(const ModuleContext& context, const std::string& list) {
  const auto take = [this](const VersionList* versions) {
    return versions_.Take(versions, [this](const IndexVersion& version, Status* status) {
      return OpenVersion(version, status);
    });
  };
  if (list.empty()) {
    NEPTUNE_RETURN_IF_ERROR(take(nullptr));
  } else if (live_ != nullptr) {
    return neptune::InvalidArgument("parameters live_path and versions are mutually exclusive: a ",
                                    "change belongs to the version that it was made on");
  } else {
    const auto path = std::filesystem::path(base_directory_) / list;
    NEPTUNE_ASSIGN_OR_RETURN(
        watch_, VersionWatch::Start(context.world, service_ + "-versions", path.string(), take));
    NEPTUNE_ASSIGN_OR_RETURN(version_section_, context.status.Add(VersionSectionName(service_),
                                                                  [watch = watch_](auto* report) {
                                                                    watch->Describe(report);
                                                                  }));
  }
  for (const auto& [id, partition] : versions_.Find(0)->partitions) {
    if (partition->status.ok()) implementation_ = partition->tier->Info().implementation;
  }
  return neptune::OkStatus();
}

std::shared_ptr<TierModule::Version> TierModule::OpenVersion(const IndexVersion& version,
                                                             Status* status) {
  const std::filesystem::path root =
      std::filesystem::absolute(std::filesystem::path(base_directory_) / version.folder / path_)
          .lexically_normal();
  auto opened = std::make_shared<Version>();
  for (const PartitionId& id : ids_) {
    const std::string directory = (root / StrCat(id)).string();
    auto partition = live_ == nullptr ? Open(directory) : OpenLive(id, directory);
    LOG_IF(ERROR, !partition->status.ok())
        << service_ << "/" << id << " " << version.name << " is not served: " << partition->status;
    status->Update(partition->status);
    opened->partitions.emplace(id, std::move(partition));
  }
  const std::string name = version.name.empty() ? "" : "-" + version.name;
  MakeCapsule(*opened, StrCat(service_, "-store", name), root.string());
  return opened;
}

void TierModule::MakeCapsule(const Version& version, const std::string& name,
                             const std::string& path) const {
  const auto reads_store = [](const auto& entry) {
    return entry.second->tier != nullptr && entry.second->tier->Info().reads_store;
  };
  if (capsules_ == nullptr) return;
  if (std::none_of(version.partitions.begin(), version.partitions.end(), reads_store)) return;
  const Status made = neptune::MakeDeviceCapsule(*capsules_, name, path);
  LOG_IF(WARNING, !made.ok()) << "reads of " << service_ << " block its workers: " << made;
}

std::unique_ptr<TierModule::Partition> TierModule::Open(const std::string& directory) const {
  auto partition = std::make_unique<Partition>();
  partition->path = directory;
  StatusOr<std::string> variant = wanted_.empty() ? DetectIndexTier(directory) : wanted_;
  partition->status = variant.status();
  if (!variant.ok()) return partition;
  StatusOr<std::unique_ptr<IndexTier>> tier = OpenIndexTier(*variant, directory);
  partition->status = tier.status();
  if (tier.ok()) partition->tier = *std::move(tier);
  return partition;
}

std::unique_ptr<TierModule::Partition> TierModule::OpenLive(PartitionId id,
                                                            const std::string& directory) {
  auto partition = std::make_unique<Partition>();
  partition->path = directory;
  StatusOr<std::unique_ptr<LiveTier>> tier = live_->Open(id, directory);
  partition->status = tier.status();
  if (tier.ok()) partition->tier = *std::move(tier);
  return partition;
}

Status TierModule::Health(PartitionId partition) {
  const std::shared_ptr<Version> current = versions_.Find(0);
  const auto found = current->partitions.find(partition);
  if (found == current->partitions.end()) return neptune::NotFound("partition ", partition);
  NEPTUNE_RETURN_IF_ERROR(StateOf(*found->second));
  return live_ == nullptr ? neptune::OkStatus() : live_->Health(partition);
}

void TierModule::Stop() {
  if (watch_ != nullptr) watch_->Stop();
  if (live_ == nullptr) return;
  live_->Stop();
  versions_.Clear();
  live_.reset();
}

TierQuery TierModule::Limited(TierQuery query) const {
  if (query.second_phase_count() > second_phase_count_max_) {
    query.set_second_phase_count(second_phase_count_max_);
  }
  return query;
}

Status TierModule::AddStatus(ModuleContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(
      section_, context.status.Add(StrCat("index ", context.service), [this](auto* report) {
        neptune::StatusTable table{
            "Partitions", {"partition", "implementation", "version", "documents", "state"}, {}};
        for (const auto& [number, version] : versions_.all()) {
          for (const auto& [id, partition] : version->partitions) {
            const TierInfo info = partition->tier == nullptr ? TierInfo() : partition->tier->Info();
            const Status state = StateOf(*partition);
            table.AddRow(id.value(), info.implementation, info.index_version, info.document_count,
                         state.ok() ? std::string("serving") : state.ToString());
          }
        }
        report->tables.push_back(std::move(table));
      }));
  return neptune::OkStatus();
}

}  // namespace search::index
