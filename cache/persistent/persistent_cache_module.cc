#include "cache/persistent/persistent_cache_module.h"

#include <algorithm>
#include <utility>

#include "cache/cache.pb.h"
#include "cache/cache_service.h"
#include "cache/persistent/persistent_cache.h"
#include "neptune/service/parameter_table.h"

namespace search::cache {

using neptune::Data;
using neptune::InvalidArgument;
using neptune::MethodName;
using neptune::ModuleContext;
using neptune::OkStatus;
using neptune::RequestContext;
using neptune::Status;
using neptune::StoreView;
using neptune::WriteContext;

namespace {

constexpr uint64_t kSizeMaxMb = 64 * 1024;
constexpr int64_t kNanosAMilli = 1'000'000;

}  // namespace

PersistentCacheModule::PersistentCacheModule() : size_mb_(ResultCacheOptions().size_max >> 20) {}

void PersistentCacheModule::DeclareParameters(neptune::ParameterTable& table) {
  table.Whole("size_mb", {1, kSizeMaxMb}, &size_mb_,
              "maximum size of a partition in MiB; the same on every node");
}

Status PersistentCacheModule::Start(ModuleContext& context) {
  limits_ = {.size_max = size_mb_ << 20, .value_size_max = ResultCacheOptions().value_size_max};
  service_ = std::make_unique<neptune::ReplicatedService>(context);
  service_->Read(MethodName(kLookupMethod), {.grain = neptune::Grain::kLong},
                 [this](const StoreView& store, RequestContext& request, const Data& in,
                        Data* out) { return Lookup(store, request, in, out); });
  service_->Write(MethodName(kInsertMethod),
                  [this](const WriteContext& write, std::string_view bytes, std::string* response) {
                    return Insert(write, bytes, response);
                  });
  return Open(*service_, context.world);
}

Status PersistentCacheModule::Open(neptune::ReplicatedService& service, neptune::World& world) {
  return service.Open();
}

Status PersistentCacheModule::Lookup(const StoreView& store, RequestContext& context,
                                     const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const LookupRequest* const asked, request.As<LookupRequest>());
  const int64_t now_ns = context.world().wall_time().ns_since_1970;
  NEPTUNE_ASSIGN_OR_RETURN(
      FoundEntry found,
      FindEntry(store, {.query = asked->key(), .index_version = asked->index_version()}, now_ns));
  LookupResponse answer;
  answer.set_implementation(implementation());
  answer.set_found(found.outcome == PersistentFind::kFound);
  if (answer.found()) {
    answer.set_value(std::move(*found.entry.mutable_value()));
    // Clocks of nodes differ: an entry inserted by another node may seem to be from the future.
    const int64_t age_ns = std::max<int64_t>(0, now_ns - found.entry.inserted_ns());
    answer.set_age_ms(static_cast<uint32_t>(age_ns / kNanosAMilli));
  }
  *response = Data::Of(std::move(answer));
  return OkStatus();
}

Status PersistentCacheModule::Insert(const WriteContext& write, std::string_view bytes,
                                     std::string* response) const {
  InsertRequest asked;
  if (!asked.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("payload of ", bytes.size(), " bytes is not an InsertRequest");
  }
  PersistentEntry entry;
  entry.set_query(asked.key());
  entry.set_index_version(asked.index_version());
  entry.set_value(std::move(*asked.mutable_value()));
  entry.set_inserted_ns(write.accepted_at.ns_since_1970);
  entry.set_time_to_live_ns(kNanosAMilli * asked.time_to_live_ms());
  NEPTUNE_ASSIGN_OR_RETURN(const InsertOutcome outcome,
                           InsertEntry(write.store, limits_, std::move(entry), write.changes));
  InsertResponse answer;
  answer.set_stored(outcome.stored);
  *response = answer.SerializeAsString();
  return OkStatus();
}

}  // namespace search::cache
