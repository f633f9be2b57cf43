#include "neptune/examples/forum/service_page_cache.h"

#include <utility>

#include "neptune/base/checksum.h"
#include "neptune/examples/forum/forum.pb.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kPartitionCountMax = 1024;

class ServicePageCache final : public PageCache {
 public:
  void DeclareParameters(ParameterTable& table) override {
    table.Whole("cache_partitions", {1, kPartitionCountMax}, &partition_count_,
                "partitions of the service page_cache");
  }

  StatusOr<std::optional<std::string>> Find(const std::string& name,
                                            const PageCacheUse& use) override {
    FindPageRequest request;
    request.set_name(name);
    request.set_work_seed(use.work_seed);
    Data response;
    NEPTUNE_RETURN_IF_ERROR(Ask(name, kFindPageMethod, AccessMode::kRead,
                                Data::Of(std::move(request)), use, &response));
    NEPTUNE_ASSIGN_OR_RETURN(const FoundPage* const found, response.As<FoundPage>());
    return found->found() ? std::optional(found->page()) : std::nullopt;
  }

  Status Store(const std::string& name, const std::string& page, const PageCacheUse& use) override {
    StorePageRequest request;
    request.set_name(name);
    request.set_page(page);
    request.set_work_seed(use.work_seed);
    Data response;
    return Ask(name, kStorePageMethod, AccessMode::kWrite, Data::Of(std::move(request)), use,
               &response);
  }

  Status Drop(const std::string& name, const PageCacheUse& use) override {
    DropPageRequest request;
    request.set_name(name);
    request.set_work_seed(use.work_seed);
    Data response;
    return Ask(name, kDropPageMethod, AccessMode::kWrite, Data::Of(std::move(request)), use,
               &response);
  }

 private:
  // Makes one attempt only: a retry would take longer than an answer without the cache.
  Status Ask(const std::string& name, const char* method, AccessMode access, const Data& request,
             const PageCacheUse& use, Data* response) const {
    const PartitionId partition(static_cast<uint32_t>(Checksum64(name) % partition_count_));
    return Call(use.session,
                {ServiceName(kPageCacheService), partition, MethodName(method), access}, request,
                response, {.deadline = use.deadline, .attempts_max = 1});
  }

  // Parameter, fixed before Start.
  uint32_t partition_count_ = 2;
};

}  // namespace

std::unique_ptr<PageCache> MakeServicePageCache() { return std::make_unique<ServicePageCache>(); }

}  // namespace neptune::examples
