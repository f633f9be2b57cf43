#include "index/tier/service/live_partitions.h"

#include <utility>
#include <vector>

#include "neptune/base/strings.h"

namespace search::index {

using neptune::LeafLock;
using neptune::PartitionId;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

StatusOr<std::unique_ptr<LivePartitions>> LivePartitions::Start(neptune::ModuleContext& context,
                                                                std::string working_directory) {
  // Nodes of one machine may share the folder.
  std::unique_ptr<LivePartitions> live(new LivePartitions(
      context, StrCat(working_directory, "/", context.node, "/", context.service)));
  for (const PartitionId& partition : context.partitions) live->slots_[partition];
  live->service_.Write(neptune::MethodName(kChangeMethod), &ExecuteChangeWrite);
  live->service_.OnChange([self = live.get()](PartitionId partition, const auto* entry) {
    self->OnChange(partition, entry);
  });
  context.registrar.Method(neptune::MethodName(kHoldsMethod), {},
                           [self = live.get()](neptune::RequestContext& request,
                                               const neptune::Data& in, neptune::Data* out) {
                             return self->Holds(request.partition(), in, out);
                           });
  NEPTUNE_RETURN_IF_ERROR(live->service_.Open());
  for (auto& [partition, slot] : live->slots_) {
    slot.reader = std::make_unique<StoreReader>(&live->service_.view(partition));
  }
  return live;
}

LivePartitions::~LivePartitions() { Stop(); }

StatusOr<std::unique_ptr<LiveTier>> LivePartitions::Open(PartitionId partition,
                                                         const std::string& directory) {
  Slot& slot = slots_.at(partition);
  NEPTUNE_ASSIGN_OR_RETURN(
      auto tier, LiveTier::Open({.base_directory = directory,
                                 .working_directory = StrCat(working_directory_, "/", partition)},
                                slot.reader.get()));
  LeafLock lock(&slot.mutex);
  slot.tier = tier.get();
  if (slot.is_missed) tier->NoteRestore();
  return tier;
}

Status LivePartitions::StartMaintenance() {
  std::vector<LiveTier*> tiers;
  for (auto& [partition, slot] : slots_) {
    LeafLock lock(&slot.mutex);
    if (slot.tier != nullptr) tiers.push_back(slot.tier);
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      maintenance_,
      LiveMaintenance::Start(context_.world, StrCat(context_.service, "-live"), std::move(tiers)));
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

Status LivePartitions::Holds(PartitionId partition, const neptune::Data& request,
                             neptune::Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<HoldsQuery>());
  Slot& slot = slots_.at(partition);
  LeafLock lock(&slot.mutex);
  if (slot.tier == nullptr) return neptune::Unavailable("partition ", partition, " is not open");
  HoldsAnswer answer;
  for (const uint64_t doc_id : asked->doc_ids()) {
    if (slot.tier->Holds(doc_id)) answer.add_held_doc_ids(doc_id);
  }
  *response = neptune::Data::Of(std::move(answer));
  return neptune::OkStatus();
}

Status LivePartitions::Health(PartitionId partition) const { return service_.Health(partition); }

void LivePartitions::Stop() {
  if (maintenance_ != nullptr) maintenance_->Stop();
  for (auto& [partition, slot] : slots_) {
    LeafLock lock(&slot.mutex);
    slot.tier = nullptr;
  }
}

}  // namespace search::index
