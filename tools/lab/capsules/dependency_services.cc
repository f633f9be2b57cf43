#include "tools/lab/capsules/dependency_services.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/examples/auction/auction.pb.h"
#include "neptune/examples/auction/auction_module.h"
#include "neptune/examples/auction/auction_store_module.h"
#include "neptune/examples/client/operators_module.h"
#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/forum/forum_database_module.h"
#include "neptune/examples/forum/forum_module.h"
#include "neptune/examples/forum/page_cache_module.h"
#include "neptune/examples/micro/micro.pb.h"
#include "neptune/examples/micro/micro_module.h"
#include "tools/lab/aggregation/aggregation_run.h"
#include "tools/lab/capsules/dependency_parameters.h"
#include "tools/lab/capsules/ret_front_module.h"
#include "tools/trace/query_stream.h"

namespace search::lab {
namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::MethodName;
using neptune::RandomSource;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

using ModulePointer = std::unique_ptr<neptune::ServiceModule>;

// Separates the request numbers of different seeds.
constexpr uint64_t kSeedStep = 1'000'000'007;

std::string Parameter(const std::string& key, const std::string& value) {
  return StrCat(" parameters { key: '", key, "' value: '", value, "' }");
}

std::string BackEnd(const std::string& name, uint32_t partition_count,
                    const std::string& parameters) {
  return StrCat(" services { name: '", name, "' module: '", name,
                "' partition_count: ", partition_count, parameters, " }");
}

std::string Front(const std::string& parameters) {
  return StrCat(" services { name: 'front' module: 'front'", parameters, " }");
}

// All answers have full quality.
double Whole(const Data&) { return 1; }

}  // namespace

double RetPartitionMs(double rate_per_s, double load_share) {
  return 1e3 * kDependencyNode.count * load_share / rate_per_s;
}

DependencyService RetService(const RetOptions& options) {
  AggregationProfile profile = RetProfile();
  profile.reduce_ms *= options.partition_ms / profile.local_ms;
  profile.local_ms = options.partition_ms;
  DependencyService service;
  service.name = "RET";
  service.spec = StrCat(Front(Parameter("partition_count", StrCat(kRetPartitionCount)) +
                              Parameter("tier1_share", StrCat(kRetTier1Share)) +
                              Parameter("quality_min", options.all_required ? "1" : "0") +
                              Parameter("uncancelled", options.uncancelled ? "true" : "false")),
                        BackEnd("ret", kRetPartitionCount, ""));
  for (uint32_t p = 0; p < kRetPartitionCount; ++p) {
    StrAppend(&service.spec, " nodes { name: 'partition-", p,
              "' hosts { service: 'ret' partitions: ", p, " } }");
    service.dependencies.push_back(StrCat("service:ret/", p));
  }
  service.modules = [](const std::string& name) -> StatusOr<ModulePointer> {
    if (name == "front") return std::make_unique<RetFrontModule>();
    return std::make_unique<neptune::examples::MicroModule>();
  };
  service.request = [profile](uint64_t seed, uint64_t number) {
    return DependencyRequest{.method = MethodName(kRetSearchMethod),
                             .data = Data::Of(profile.RequestFor(seed * kSeedStep + number))};
  };
  service.quality = [](const Data& answer) {
    const auto result = answer.As<neptune::examples::MicroResult>();
    CHECK(result.ok()) << result.status();
    return static_cast<double>((*result)->partition_count()) / kRetPartitionCount;
  };
  return service;
}

namespace {

using neptune::examples::AddItemRequest;
using neptune::examples::ItemStatusRequest;
using neptune::examples::ListItemsRequest;
using neptune::examples::PlaceBidRequest;

DependencyRequest AuctionRequest(uint64_t seed) {
  RandomSource random(seed);
  const double kind = random.Uniform();
  const uint64_t item = tools::DrawZipf(random, kAucZipfExponent, kAucItemCount);
  if (kind < kAucBidShare) {
    PlaceBidRequest request;
    request.set_item_id(item);
    request.mutable_bid()->set_bidder(StrCat("bidder ", random.Below(1000)));
    request.mutable_bid()->set_amount(1 + random.Below(1'000'000));
    request.set_work_seed(seed);
    return {MethodName(neptune::examples::kBidMethod), AccessMode::kWrite, Data::Of(request)};
  }
  if (kind < kAucBidShare + kAucAddShare) {
    AddItemRequest request;
    request.mutable_item()->set_category(neptune::examples::MadeUpCategory(item));
    request.mutable_item()->set_title(StrCat("item of request ", seed));
    request.set_work_seed(seed);
    return {MethodName(neptune::examples::kAddMethod), AccessMode::kWrite, Data::Of(request)};
  }
  if (kind < kAucBidShare + kAucAddShare + kAucListShare) {
    ListItemsRequest request;
    request.set_category(neptune::examples::MadeUpCategory(item));
    request.set_count_max(20);
    request.set_work_seed(seed);
    return {MethodName(neptune::examples::kListMethod), AccessMode::kRead, Data::Of(request)};
  }
  ItemStatusRequest request;
  request.set_item_id(item);
  request.set_work_seed(seed);
  return {MethodName(neptune::examples::kStatusMethod), AccessMode::kRead, Data::Of(request)};
}

}  // namespace

DependencyService AucService(const AucOptions& options) {
  DependencyService service;
  service.name = "AUC";
  service.spec = StrCat(Front(Parameter("work_us", StrCat(options.front_us))),
                        BackEnd("auction_store", 1,
                                Parameter("synthetic_items", StrCat(kAucItemCount)) +
                                    Parameter("read_work_us", StrCat(options.store_us)) +
                                    Parameter("write_work_us", StrCat(options.store_us))));
  for (int i = 0; i < 3; ++i) {
    StrAppend(&service.spec, " nodes { name: 'store-", i, "' hosts { service: 'auction_store' } }");
    service.dependencies.push_back(StrCat("service:auction_store/0@store-", i));
  }
  service.modules = [](const std::string& name) -> StatusOr<ModulePointer> {
    if (name == "front") return std::make_unique<neptune::examples::AuctionModule>();
    return std::make_unique<neptune::examples::AuctionStoreModule>();
  };
  service.request = [](uint64_t seed, uint64_t number) {
    return AuctionRequest(seed * kSeedStep + number);
  };
  service.quality = Whole;
  return service;
}

DependencyService BbsService(const BbsOptions& options) {
  DependencyService service;
  service.name = "BBS";
  service.spec = StrCat(Front(Parameter("work_us", StrCat(options.front_us))),
                        BackEnd("page_cache", 2,
                                Parameter("work_us", StrCat(options.cache_us)) +
                                    Parameter("page_count_max", StrCat(kBbsCachePages))),
                        BackEnd("forum_database", 1,
                                Parameter("synthetic_topics", StrCat(kBbsTopicCount)) +
                                    Parameter("read_work_us", StrCat(options.database_us))),
                        " nodes { name: 'cache-0' hosts { service: 'page_cache' partitions: 0 } }"
                        " nodes { name: 'cache-1' hosts { service: 'page_cache' partitions: 1 } }"
                        " nodes { name: 'database' hosts { service: 'forum_database' } }");
  service.dependencies = {"service:page_cache/0", "service:page_cache/1"};
  service.modules = [](const std::string& name) -> StatusOr<ModulePointer> {
    if (name == "front") return std::make_unique<neptune::examples::ForumModule>();
    if (name == "page_cache") return std::make_unique<neptune::examples::PageCacheModule>();
    return std::make_unique<neptune::examples::ForumDatabaseModule>();
  };
  service.request = [](uint64_t seed, uint64_t number) {
    const uint64_t own = seed * kSeedStep + number;
    RandomSource random(own);
    neptune::examples::ViewTopicRequest request;
    request.set_topic_id(tools::DrawZipf(random, kBbsZipfExponent, kBbsTopicCount));
    request.set_work_seed(own);
    return DependencyRequest{.method = MethodName(neptune::examples::kViewMethod),
                             .data = Data::Of(std::move(request))};
  };
  service.quality = Whole;
  service.from_cache = [](const Data& answer) {
    const auto page = answer.As<neptune::examples::ForumPage>();
    CHECK(page.ok()) << page.status();
    return (*page)->from_cache();
  };
  return service;
}

}  // namespace search::lab
