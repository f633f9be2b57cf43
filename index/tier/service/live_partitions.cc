#include "index/tier/service/live_partitions.h"

#include <glog/logging.h>

#include <utility>
#include <vector>

#include "index/tier/statistics/renewal_attempt.h"
#include "index/tier/statistics/statistics_messages.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"

namespace search::index {

using neptune::Data;
using neptune::LeafLock;
using neptune::MethodName;
using neptune::PartitionId;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

namespace {

// Blocks the calling thread.
StatusOr<std::vector<ChangedTermsPage>> CountPages(LiveTier& tier, const StoreReader& state) {
  CountedPartition counted;
  counted.index_version = tier.Info().index_version;
  // Changes from here on may be counted now, but are attributed to the next renewal.
  NEPTUNE_ASSIGN_OR_RETURN(counted.change_count, ChangeCount(state));
  NEPTUNE_RETURN_IF_ERROR(tier.Refresh().status());
  NEPTUNE_ASSIGN_OR_RETURN(counted.changed, tier.CountChangedTerms());
  return PagesOf(counted);
}

}  // namespace

StatusOr<std::unique_ptr<LivePartitions>> LivePartitions::Start(
    neptune::ModuleContext& context, std::string working_directory,
    const StatisticsRenewalOptions& statistics) {
  // Nodes of one machine may share the directory.
  std::unique_ptr<LivePartitions> live(new LivePartitions(
      context, StrCat(working_directory, "/", context.node, "/", context.service), statistics));
  for (const PartitionId& partition : context.partitions) live->slots_[partition];
  live->service_.Write(neptune::MethodName(kChangeMethod), &ExecuteChangeWrite);
  live->service_.OnChange([self = live.get()](PartitionId partition, const auto* entry) {
    self->OnChange(partition, entry);
  });
  live->AddMethods();
  NEPTUNE_ASSIGN_OR_RETURN(
      live->counting_loop_,
      context.world.StartLoop({.name = StrCat(context.service, "-count"),
                               .priority = neptune::LoopPriority::kBackground}));
  live->reopening_ = Reopening::Make(*live->counting_loop_);
  NEPTUNE_RETURN_IF_ERROR(live->service_.Open());
  for (auto& [partition, slot] : live->slots_) {
    NEPTUNE_ASSIGN_OR_RETURN(
        slot.merges, MergeRecord::Make(context.metrics, {{"service", context.service.value()},
                                                         {"partition", StrCat(partition)}}));
    slot.reader = std::make_unique<StoreReader>(&live->service_.view(partition));
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      live->section_,
      context.status.Add(StrCat("index ", context.service, " merges"),
                         [self = live.get()](auto* report) { self->DescribeMerges(report); }));
  return live;
}

void LivePartitions::DescribeMerges(neptune::StatusReport* report) const {
  neptune::StatusTable table{"Recent merges", {"partition", "ended ago (ms)", "took (ms)"}, {}};
  const neptune::TimePoint now = counting_loop_->Now();
  for (const auto& [partition, slot] : slots_) {
    for (const MergeTime& merge : slot.merges->recent()) {
      table.AddRow(partition.value(), 1e3 * neptune::ToSeconds(now - merge.end),
                   1e3 * neptune::ToSeconds(merge.end - merge.begin));
    }
  }
  report->tables.push_back(std::move(table));
}

LivePartitions::~LivePartitions() { Stop(); }

void LivePartitions::AddMethods() {
  neptune::ServiceRegistrar& registrar = context_.registrar;
  registrar.Method(MethodName(kHoldsMethod), {},
                   [this](RequestContext& request, const Data& in, Data* out) {
                     return Holds(request.partition(), in, out);
                   });
  service_.Read(MethodName(kStatisticsStateMethod), {},
                [this](const neptune::StoreView& store, RequestContext& request, const Data&,
                       Data* out) { return TellState(request.partition(), store, out); });
  registrar.Stream(MethodName(kChangedTermsMethod), {},
                   [this](RequestContext& request, const Data&, neptune::ServerStream& stream) {
                     return SendChangedTerms(request.partition(), stream);
                   });
  registrar.Method(MethodName(kPublishedFrequenciesMethod), {.grain = neptune::Grain::kLong},
                   [this](RequestContext& request, const Data& in, Data* out) {
                     return TellFrequencies(request.partition(), in, out);
                   });
}

void LivePartitions::Open(PartitionId partition, const std::string& directory, ServedTier* served) {
  const Status opened = TryOpen(partition, directory, served);
  if (opened.ok()) return;
  const auto show = [this, partition, served](const Status& failure, neptune::Duration delay) {
    const Status why(failure.code(),
                     StrCat(neptune::ToStd(failure.message()), "; it is opened again after ",
                            neptune::ToSeconds(delay), " s"));
    served->NoteFailure(why);
    service_.NoteUse(partition, neptune::Annotate(why, "the index over the data is not open"));
  };
  const auto open = [this, partition, directory, served] {
    const Status status = TryOpen(partition, directory, served);
    LOG_IF(INFO, status.ok()) << context_.service << "/" << partition << " is served now";
    return status;
  };
  reopening_->Begin({.open = open, .on_failure = show}, opened);
}

Status LivePartitions::TryOpen(PartitionId partition, const std::string& directory,
                               ServedTier* served) {
  Slot& slot = slots_.at(partition);
  {
    LeafLock lock(&slot.mutex);
    slot.is_missed = false;
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      auto tier, LiveTier::Open({.base_directory = directory,
                                 .working_directory = StrCat(working_directory_, "/", partition)},
                                slot.reader.get()));
  {
    LeafLock lock(&slot.mutex);
    slot.tier = tier.get();
    if (slot.is_missed) tier->NoteRestore();
  }
  const MaintainedTier maintained{tier.get(), slot.merges.get()};
  served->Set(std::move(tier));
  service_.NoteUse(partition, neptune::OkStatus());
  LeafLock lock(&maintenance_mutex_);
  if (maintenance_ != nullptr) maintenance_->Add(maintained);
  return neptune::OkStatus();
}

void LivePartitions::Mend(PartitionId partition, const Status& damage, std::function<void()> done) {
  const auto rebuild = [this, partition, done = std::move(done)]() -> Status {
    const StatusOr<LiveTier*> tier = TierOf(partition);
    NEPTUNE_RETURN_IF_ERROR(tier.status());
    NEPTUNE_RETURN_IF_ERROR((*tier)->Rebuild());
    done();
    return neptune::OkStatus();
  };
  const auto show = [partition](const Status& failure, neptune::Duration delay) {
    LOG(WARNING) << "partition " << partition << " is built again after "
                 << neptune::ToSeconds(delay) << " s: " << failure;
  };
  counting_loop_->Post([reopening = reopening_, rebuild, show, damage] {
    reopening->Begin({.open = rebuild, .on_failure = show}, damage, kDamageReopenDelay);
  });
}

Status LivePartitions::StartMaintenance() {
  {
    LeafLock lock(&maintenance_mutex_);
    std::vector<MaintainedTier> tiers;
    for (auto& [partition, slot] : slots_) {
      LeafLock slot_lock(&slot.mutex);
      if (slot.tier != nullptr) tiers.push_back({slot.tier, slot.merges.get()});
    }
    NEPTUNE_ASSIGN_OR_RETURN(
        maintenance_, LiveMaintenance::Start(context_.world, StrCat(context_.service, "-live"),
                                             std::move(tiers)));
  }
  return StartRenewal();
}

// Only nodes with tier 1's first partition can lead.
Status LivePartitions::StartRenewal() {
  const PartitionId leading(0);
  if (context_.service.value() != kTier1Service || slots_.count(leading) == 0) {
    return neptune::OkStatus();
  }
  if (statistics_.tier1_partitions == 0) {
    LOG(WARNING) << "statistics are not renewed: " << context_.service
                 << " has no parameter tier1_partitions";
    return neptune::OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      renewal_, StatisticsRenewal::Start(
                    statistics_, {.client = &context_.client,
                                  .world = &context_.world,
                                  .metrics = &context_.metrics,
                                  .background = counting_loop_,
                                  .leads = [this, leading] { return service_.IsPrimary(leading); },
                                  .working_directory = working_directory_}));
  return neptune::OkStatus();
}

StatusOr<LiveTier*> LivePartitions::TierOf(PartitionId partition) {
  Slot& slot = slots_.at(partition);
  LeafLock lock(&slot.mutex);
  if (slot.tier == nullptr) return neptune::Unavailable("partition ", partition, " is not open");
  return slot.tier;
}

Status LivePartitions::TellState(PartitionId partition, const neptune::StoreView& store,
                                 Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const LiveTier* const tier, TierOf(partition));
  const TierInfo info = tier->Info();
  const LiveTier::StatisticsUsed used = tier->statistics();
  StatisticsState state;
  state.set_index_version(info.index_version);
  state.set_document_count(info.document_count);
  state.set_version(used.version);
  state.set_counted_changes(used.change_count);
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t change_count, ChangeCount(StoreReader(&store)));
  state.set_change_count(change_count);
  *response = Data::Of(std::move(state));
  return neptune::OkStatus();
}

Status LivePartitions::SendChangedTerms(PartitionId partition, neptune::ServerStream& stream) {
  NEPTUNE_ASSIGN_OR_RETURN(LiveTier* const tier, TierOf(partition));
  Slot& slot = slots_.at(partition);
  if (slot.is_counting.exchange(true)) {
    return neptune::ResourceExhausted("partition ", partition, " is already being counted");
  }
  StatusOr<std::vector<ChangedTermsPage>> pages = neptune::Internal("not counted");
  RunOnLoop(*counting_loop_, [&] { pages = CountPages(*tier, *slot.reader); });
  slot.is_counting = false;
  NEPTUNE_RETURN_IF_ERROR(pages.status());
  for (ChangedTermsPage& page : *pages) {
    NEPTUNE_RETURN_IF_ERROR(stream.Write(Data::Of(std::move(page))));
  }
  return neptune::OkStatus();
}

Status LivePartitions::TellFrequencies(PartitionId partition, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const LiveTier* const tier, TierOf(partition));
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const query, request.As<FrequencyQuery>());
  if (query->keys_size() > static_cast<int>(kPageTermsMax)) {
    return neptune::InvalidArgument(query->keys_size(), " terms requested; at most ",
                                    kPageTermsMax);
  }
  FrequencyAnswer answer;
  for (const std::string& key : query->keys()) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t frequency, tier->PublishedFrequency(key));
    answer.add_published_frequencies(frequency);
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

void LivePartitions::OnChange(PartitionId partition, const neptune::LogEntry* entry) {
  Slot& slot = slots_.at(partition);
  LeafLock lock(&slot.mutex);
  if (slot.tier == nullptr) {
    slot.is_missed = true;
  } else if (entry == nullptr) {
    slot.tier->NoteRestore();
  } else if (const auto change = ChangeOfEntry(*entry)) {
    slot.tier->NoteChange(*change);
  }
}

Status LivePartitions::Holds(PartitionId partition, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<HoldsQuery>());
  NEPTUNE_ASSIGN_OR_RETURN(const LiveTier* const tier, TierOf(partition));
  HoldsAnswer answer;
  for (const uint64_t doc_id : asked->doc_ids()) {
    if (tier->Holds(doc_id)) answer.add_held_doc_ids(doc_id);
  }
  *response = Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status LivePartitions::Health(PartitionId partition) const { return service_.Health(partition); }

void LivePartitions::Stop() {
  if (renewal_ != nullptr) renewal_->Stop();
  if (reopening_ != nullptr) reopening_->Stop();
  std::shared_ptr<LiveMaintenance> maintenance;
  {
    LeafLock lock(&maintenance_mutex_);
    maintenance = maintenance_;
  }
  if (maintenance != nullptr) maintenance->Stop();
  for (auto& [partition, slot] : slots_) {
    LeafLock lock(&slot.mutex);
    slot.tier = nullptr;
  }
}

}  // namespace search::index
