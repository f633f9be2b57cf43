#include "index/tier/service/tier_module.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "index/tier/detail_reduce.h"
#include "index/tier/explain.pb.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet.pb.h"
#include "index/tier/facet_operators.h"
#include "index/tier/files.pb.h"
#include "index/tier/operators.h"
#include "index/tier/registry.h"
#include "index/tier/service/partition_files.h"
#include "index/tier/suggest.pb.h"
#include "index/tier/suggest_operators.h"
#include "index/tier/suggest_reduce.h"
#include "index/tier/tier.pb.h"
#include "index/tier/tier_reduce.h"
#include "index/tier/tier_service.h"
#include "index/tier/title_operators.h"
#include "index/tier/titles.pb.h"
#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/service/parameter_table.h"

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

}  // namespace

PartitionFacts TierModule::Partition::Facts(uint64_t) const {
  const TierInfo info = served.tier() == nullptr ? TierInfo() : served.tier()->Info();
  return {info.implementation, info.index_version, info.document_count};
}

FileChecks::Check TierModule::Partition::StartCheck() const {
  std::vector<FileChecks::Check> checks;
  if (served.tier() != nullptr) checks.push_back(served.tier()->StartCheck());
  if (titles != nullptr) checks.push_back(titles->StartCheck());
  std::erase_if(checks, [](const FileChecks::Check& check) { return check == nullptr; });
  if (checks.empty()) return nullptr;
  return [checks = std::move(checks), at = size_t{0}](size_t size) mutable -> StatusOr<size_t> {
    while (at < checks.size()) {
      NEPTUNE_ASSIGN_OR_RETURN(const size_t read, checks[at](size));
      if (read > 0) return read;
      ++at;
    }
    return size_t{0};
  };
}

template <typename Message, typename Work>
void TierModule::AddMethod(neptune::ServiceRegistrar& registrar, const char* name,
                           neptune::Grain grain, Work work) {
  registrar.Method(
      neptune::MethodName(name), {.grain = grain},
      [this, work](RequestContext& context, const Data& request, Data* response) -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(const Message* const message, request.As<Message>());
        const auto answer = [&](const Partition& partition, const TierSearchControl& control) {
          return work(partition, *message, control);
        };
        return Answer(context, message->index_version(), answer, response);
      });
}

template <typename Work>
Status TierModule::Answer(RequestContext& context, uint64_t version, const Work& work,
                          Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Partition> partition,
                           partitions_.Await(context, version));
  auto answer = work(*partition, ControlOf(context, *partition));
  if (answer.status().code() == neptune::StatusCode::kDataLoss) {
    NoteDamage(context.partition(), partition, answer.status());
    return neptune::Unavailable("partition ", context.partition(),
                                " is damaged: ", answer.status().message());
  }
  NEPTUNE_RETURN_IF_ERROR(answer.status());
  *response = Data::Of(*std::move(answer));
  return neptune::OkStatus();
}

// Live partitions build what was damaged again themselves.
void TierModule::NoteDamage(PartitionId id, const std::shared_ptr<Partition>& partition,
                            const Status& damage) {
  if (live_ == nullptr) return partitions_.NoteDamage(id, partition, damage);
  if (!partitions_.CountDamage(id, *partition, damage)) return;
  live_->Mend(id, damage, [this, id, partition] {
    partition->served.NoteMended();
    partitions_.CountReopened();
    LOG(INFO) << "partition " << id << " is served again";
  });
}

TierSearchControl TierModule::ControlOf(RequestContext& context, const Partition& partition) const {
  TierSearchControl control;
  control.deadline = context.deadline();
  control.now = [&context] { return context.Now(); };
  control.stop = [&context] {
    return context.ShouldStop() || (context.GiveWay(kTierStopPostings) && context.ShouldStop());
  };
  control.expect = [&context](uint64_t postings) { context.ExpectWork(postings); };
  const neptune::TimePoint now = context.Now();
  const neptune::Duration answering = std::min<neptune::Duration>(
      kAnswerTimeMax, std::max(context.deadline() - now, neptune::Duration::zero()) / 8);
  control.stop_read = [call = context.call(), loop = neptune::Loop::Current(),
                       end = context.deadline() - answering] {
    return (call != nullptr && IsCancelled(*call)) || loop->Now() >= end;
  };
  control.read = [this, &context, &partition](std::function<void()> read) {
    return neptune::RunTaskOnDevice(partitions_.capsules(), partition.path, std::move(read),
                                    {.deadline = context.deadline(),
                                     .caller = context.origin().handler,
                                     .service_class = context.service_class()});
  };
  return control;
}

void TierModule::DeclareParameters(neptune::ParameterTable& table) {
  partitions_.DeclareParameters(table);
  table.Choice("implementation", neptune::NamesOf(RegisteredIndexTiers()), &wanted_,
               "variant of index/tier/registry.h; default: the one recorded in the folder");
  table.Text("live_path", &live_path_,
             "folder for segments of documents that change, relative to the base folder; needs the "
             "variant segment and a replication block; default: documents do not change");
  DeclareRenewalParameters(table, &statistics_);
  table.Whole("second_phase_count_max", {0, kTierHitCountMax}, &second_phase_count_max_,
              "maximum number of documents that the second ranking phase rates per query; 0: none");
  table.Flag("copy_from_replicas", &copies_from_replicas_,
             "copies the files of a partition that is damaged while it is served from another "
             "replica, if its folder is this node's own and may be written; not with live_path");
}

Status TierModule::Start(ModuleContext& context) {
  const char* changing = nullptr;
  if (!live_path_.empty()) {
    changing = "live_path";
    const auto working = std::filesystem::path(context.base_directory) / live_path_;
    NEPTUNE_ASSIGN_OR_RETURN(live_, LivePartitions::Start(context, working.string(), statistics_));
  }
  if (copies_from_replicas_) NEPTUNE_RETURN_IF_ERROR(PrepareCopies(context));
  NEPTUNE_RETURN_IF_ERROR(partitions_.Start(
      context, changing,
      [this](PartitionId id, const std::string& directory) { return Open(id, directory); }));
  const auto current = partitions_.Current();
  for (const auto& [id, partition] : *current) {
    const IndexTier* const tier = partition->served.tier();
    if (tier != nullptr) implementation_ = tier->Info().implementation;
  }
  // Tiers over replicated data may open later.
  if (live_ != nullptr) implementation_ = kSegmentTierName;
  if (live_ != nullptr) NEPTUNE_RETURN_IF_ERROR(live_->StartMaintenance());
  AddMethods(context.registrar);
  NEPTUNE_RETURN_IF_ERROR(partitions_.AddStatus(context, StrCat("index ", context.service)));
  return copies_ == nullptr ? neptune::OkStatus() : copies_->Start();
}

void TierModule::AddMethods(neptune::ServiceRegistrar& registrar) {
  AddMethod<TierQuery>(
      registrar, kTierSearchMethod, neptune::Grain::kLong,
      [this](const Partition& partition, const TierQuery& query, const TierSearchControl& control) {
        return Search(partition, Limited(query), control);
      });
  RegisterTierReduceOperator(registrar);
  AddMethod<SuggestQuery>(registrar, kTierSuggestMethod, neptune::Grain::kShort,
                          [](const Partition& partition, const SuggestQuery& query, const auto&) {
                            return SuggestOperator(*partition.served.tier(), query);
                          });
  AddMethod<SpellQuery>(registrar, kTierSpellMethod, neptune::Grain::kShort,
                        [](const Partition& partition, const SpellQuery& query, const auto&) {
                          return SpellOperator(*partition.served.tier(), query);
                        });
  AddMethod<CountQuery>(registrar, kTierCountMethod, neptune::Grain::kLong,
                        [](const Partition& partition, const auto& query, const auto& control) {
                          return CountOperator(*partition.served.tier(), query, control);
                        });
  RegisterSuggestReduceOperators(registrar);
  AddMethod<ExplainQuery>(registrar, kTierExplainMethod, neptune::Grain::kLong,
                          [](const Partition& partition, const ExplainQuery& query, const auto&) {
                            return ExplainOperator(*partition.served.tier(), query);
                          });
  AddMethod<FacetQuery>(registrar, kTierFacetMethod, neptune::Grain::kLong,
                        [](const Partition& partition, const auto& query, const auto& control) {
                          return FacetOperator(*partition.served.tier(), query, control);
                        });
  AddMethod<TitlesQuery>(registrar, kTierTitlesMethod, neptune::Grain::kShort,
                         [](const Partition& partition, const TitlesQuery& query, const auto&) {
                           return Titles(partition, query);
                         });
  RegisterDetailReduceOperators(registrar);
  registrar.Method(neptune::MethodName(kTierFilesMethod), {.grain = neptune::Grain::kLong},
                   [this](RequestContext& context, const Data& request, Data* response) {
                     return Files(context, request, response);
                   });
}

Status TierModule::PrepareCopies(ModuleContext& context) {
  if (live_ != nullptr) {
    return neptune::InvalidArgument(
        "parameters copy_from_replicas and live_path exclude each other: partitions whose "
        "documents "
        "change are built again from their data");
  }
  const auto check = [this](const std::string& directory, uint64_t index_version) {
    return CheckFolder(directory, index_version);
  };
  copies_ = std::make_unique<PartitionCopies>(context, check);
  partitions_.FetchUnsound([copies = copies_.get()](const auto& unsound) {
    copies->Want(unsound.id, {unsound.list_number, unsound.index_version, unsound.directory});
  });
  return neptune::OkStatus();
}

Status TierModule::CheckFolder(const std::string& directory, uint64_t index_version) const {
  Partition partition;
  NEPTUNE_RETURN_IF_ERROR(OpenStatic(directory, &partition));
  const uint64_t copied = partition.served.tier()->Info().index_version;
  if (copied == index_version) return neptune::OkStatus();
  return neptune::DataLoss(directory, " has index version ", copied, ", not ", index_version);
}

// The partition is open, and so its files are sound as far as is known.
Status TierModule::Files(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const FilesQuery* const query, request.As<FilesQuery>());
  NEPTUNE_ASSIGN_OR_RETURN(const std::shared_ptr<Partition> partition,
                           partitions_.Await(context, query->index_version()));
  NEPTUNE_ASSIGN_OR_RETURN(FilesAnswer answer, ReadPartitionFiles(partition->path, *query));
  answer.set_index_version(partition->served.tier()->Info().index_version);
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

StatusOr<TierAnswer> TierModule::Search(const Partition& partition, const TierQuery& query,
                                        const TierSearchControl& control) {
  NEPTUNE_ASSIGN_OR_RETURN(TierAnswer answer,
                           LocalOperator(*partition.served.tier(), query, control));
  if (query.titled_count() > 0 && partition.titles != nullptr) {
    AddTitles(*partition.titles, std::min(query.titled_count(), kTitledDocumentsMax), &answer);
    NEPTUNE_RETURN_IF_ERROR(partition.titles->CheckSound());
  }
  return answer;
}

StatusOr<TitlesAnswer> TierModule::Titles(const Partition& partition, const TitlesQuery& query) {
  NEPTUNE_ASSIGN_OR_RETURN(TitlesAnswer answer, TitlesOperator(partition.titles.get(), query));
  if (partition.titles != nullptr) NEPTUNE_RETURN_IF_ERROR(partition.titles->CheckSound());
  answer.set_index_version(partition.served.tier()->Info().index_version);
  return answer;
}

std::unique_ptr<TierModule::Partition> TierModule::Open(PartitionId id,
                                                        const std::string& directory) const {
  auto partition = std::make_unique<Partition>();
  partition->path = directory;
  if (live_ != nullptr) {
    live_->Open(id, directory, &partition->served);
    return partition;
  }
  const Status opened = OpenStatic(directory, partition.get());
  if (!opened.ok()) partition->served.NoteFailure(opened);
  return partition;
}

Status TierModule::OpenStatic(const std::string& directory, Partition* partition) const {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<IndexTier> tier, OpenTier(directory));
  StatusOr<std::unique_ptr<TitleTable>> titles = TitleTable::Open(directory);
  if (titles.ok()) {
    partition->titles = *std::move(titles);
  } else if (titles.status().code() != neptune::StatusCode::kNotFound) {
    return titles.status();
  }
  partition->served.Set(std::move(tier));
  return neptune::OkStatus();
}

StatusOr<std::unique_ptr<IndexTier>> TierModule::OpenTier(const std::string& directory) const {
  std::string variant = wanted_;
  if (variant.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(variant, DetectIndexTier(directory));
  }
  return OpenIndexTier(variant, directory);
}

Status TierModule::Health(PartitionId partition) {
  NEPTUNE_RETURN_IF_ERROR(partitions_.Health(partition));
  return live_ == nullptr ? neptune::OkStatus() : live_->Health(partition);
}

void TierModule::Stop() {
  partitions_.Stop();
  if (copies_ != nullptr) copies_->Stop();
  if (live_ == nullptr) return;
  live_->Stop();
  partitions_.Clear();
  live_.reset();
}

TierQuery TierModule::Limited(TierQuery query) const {
  if (query.second_phase_count() > second_phase_count_max_) {
    query.set_second_phase_count(second_phase_count_max_);
  }
  return query;
}

}  // namespace search::index
