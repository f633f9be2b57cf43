#include "neptune/examples/forum/page_cache_module.h"

#include <utility>

#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/forum/service_page_cache.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kPageCountMaxMax = 10'000'000;

}  // namespace

void PageCacheModule::DeclareParameters(ParameterTable& table) {
  table.Whole("page_count_max", {0, kPageCountMaxMax}, &page_count_max_,
              "pages kept in each partition");
  work_.DeclareParameter(table, "work_us");
}

Status PageCacheModule::Start(ModuleContext& context) {
  work_.Start(context);
  {
    LeafLock lock(&mutex_);
    for (const PartitionId& partition : context.partitions) {
      partitions_.emplace(partition, page_count_max_);
    }
  }
  const MethodOptions write{
      .access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false};
  context.registrar.Method(MethodName(kFindPageMethod), {.grain = Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return Find(request, in, out);
                           });
  context.registrar.Method(
      MethodName(kStorePageMethod), write,
      [this](RequestContext& request, const Data& in, Data*) { return Store(request, in); });
  context.registrar.Method(
      MethodName(kDropPageMethod), write,
      [this](RequestContext& request, const Data& in, Data*) { return Drop(request, in); });
  return OkStatus();
}

Status PageCacheModule::Find(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<FindPageRequest>());
  work_.Use(asked->work_seed());
  FoundPage answer;
  {
    LeafLock lock(&mutex_);
    auto page = partitions_.at(context.partition()).Find(asked->name(), context.Now());
    answer.set_found(page.has_value());
    if (page) answer.set_page(*std::move(page));
  }
  *response = Data::Of(std::move(answer));
  return OkStatus();
}

Status PageCacheModule::Store(RequestContext& context, const Data& request) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<StorePageRequest>());
  if (asked->name().empty() || asked->page().size() > kPageSizeMax) {
    return InvalidArgument("invalid page '", asked->name(), "' of ", asked->page().size(),
                           " bytes");
  }
  work_.Use(asked->work_seed());
  LeafLock lock(&mutex_);
  partitions_.at(context.partition()).Store(asked->name(), asked->page(), context.Now());
  return OkStatus();
}

Status PageCacheModule::Drop(RequestContext& context, const Data& request) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<DropPageRequest>());
  work_.Use(asked->work_seed());
  LeafLock lock(&mutex_);
  partitions_.at(context.partition()).Drop(asked->name());
  return OkStatus();
}

}  // namespace neptune::examples
