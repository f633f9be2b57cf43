#include "tools/lab/replication/replica_auction.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/examples/auction/auction_house.pb.h"
#include "neptune/examples/auction/auction_house_module.h"

namespace search::lab {

using neptune::AccessMode;
using neptune::Data;
using neptune::RandomSource;
using neptune::Status;
using neptune::StrCat;
namespace house = neptune::examples::auction_house;

namespace {

constexpr uint64_t kCategoriesAServer = 400;
constexpr uint32_t kListedCount = 20;
constexpr uint64_t kRaiseMax = 5;
// The key of the last viewed item in a user's map; items have their index plus one as key.
constexpr uint64_t kWatched = 0;

std::string Micros(double ms) { return StrCat(std::llround(1e3 * ms)); }

neptune::PartitionId PartitionOf(uint64_t category) {
  return neptune::PartitionId(static_cast<uint32_t>(category % kReplicaPartitionCount));
}

template <typename Request>
ReplicaCall CallOf(const char* method, AccessMode access, uint64_t category,
                   const Request& request) {
  return {.partition = PartitionOf(category),
          .method = neptune::MethodName(method),
          .access = access,
          .request = request.SerializeAsString(),
          .on_answer = nullptr};
}

}  // namespace

ReplicaClusterOptions AuctionHouseCluster(int server_count, int degree) {
  ReplicaClusterOptions options;
  options.server_count = server_count;
  options.degree = degree;
  options.level = "staleness_bounded";
  options.parameters = {
      {"partition_count", StrCat(kReplicaPartitionCount)},
      {"category_count", StrCat(kCategoriesAServer * static_cast<uint64_t>(server_count))},
      {"read_work_us", Micros(kAuctionReadMs)},
      {"add_work_us", Micros(kAuctionAddMs)},
      {"bid_work_us", Micros(kAuctionBidMs)}};
  options.module = [] { return std::make_unique<house::AuctionHouseModule>(); };
  return options;
}

double AuctionHouseIdealRate(int server_count, int degree) {
  const double cost_ms =
      (1 - kAuctionBidShare - kAuctionAddShare) * kAuctionReadMs +
      degree * (kAuctionBidShare * kAuctionBidMs + kAuctionAddShare * kAuctionAddMs);
  return 1e3 * server_count / cost_ms;
}

AuctionUsers::AuctionUsers(int server_count)
    : category_count_(kCategoriesAServer * static_cast<uint64_t>(server_count)) {}

ReplicaCall AuctionUsers::Next(ReplicaUser& user, RandomSource& random) {
  const double draw = random.Uniform();
  if (items_.empty() || draw < kAuctionAddShare) return Add(random);
  return draw < kAuctionAddShare + kAuctionBidShare ? Bid(user, random) : View(user, random);
}

ReplicaCall AuctionUsers::Add(RandomSource& random) {
  house::AddItemRequest request;
  request.set_category_id(random.Below(category_count_));
  request.set_title("an item");
  request.set_seller("a seller");
  request.set_work_seed(random.Next());
  ReplicaCall call =
      CallOf(house::kAddItemMethod, AccessMode::kWrite, request.category_id(), request);
  call.on_answer = [this](const Status& status, const Data& answer) {
    if (!status.ok()) return;
    const auto item = answer.As<house::Item>();
    CHECK(item.ok()) << item.status();
    items_.push_back({.category = (*item)->category_id(), .id = (*item)->id()});
  };
  return call;
}

size_t AuctionUsers::DrawItem(ReplicaUser& user, RandomSource& random) const {
  const auto watched = user.seen.find(kWatched);
  const bool goes_on = watched != user.seen.end() && random.Below(2) == 0;
  const size_t item = goes_on ? watched->second : random.Below(items_.size());
  user.seen[kWatched] = item;
  return item;
}

void AuctionUsers::Saw(ReplicaUser& user, size_t item, uint64_t amount) {
  const auto [seen, is_new] = user.seen.try_emplace(item + 1, amount);
  if (is_new) return;
  ++seen_again_count_;
  if (amount < seen->second) ++decline_count_;
  seen->second = std::max(seen->second, amount);
}

ReplicaCall AuctionUsers::Bid(ReplicaUser& user, RandomSource& random) {
  const size_t item = DrawItem(user, random);
  house::BidItemRequest request;
  request.set_category_id(items_[item].category);
  request.set_item_id(items_[item].id);
  request.mutable_bid()->set_bidder(StrCat("user ", user.number));
  request.mutable_bid()->set_amount(items_[item].amount + 1 + random.Below(kRaiseMax));
  request.set_work_seed(random.Next());
  ReplicaCall call =
      CallOf(house::kBidItemMethod, AccessMode::kWrite, request.category_id(), request);
  call.on_answer = [this, &user, item](const Status& status, const Data& answer) {
    if (!status.ok()) return;
    const auto result = answer.As<house::BidItemResult>();
    CHECK(result.ok()) << result.status();
    const uint64_t amount = (*result)->item().highest().amount();
    items_[item].amount = std::max(items_[item].amount, amount);
    Saw(user, item, amount);
  };
  return call;
}

ReplicaCall AuctionUsers::View(ReplicaUser& user, RandomSource& random) {
  const uint64_t kind = random.Below(3);
  if (kind == 0) {
    house::ViewCategoriesRequest request;
    request.set_count_max(kListedCount);
    request.set_work_seed(random.Next());
    return CallOf(house::kViewCategoriesMethod, AccessMode::kRead, random.Below(category_count_),
                  request);
  }
  if (kind == 1) {
    house::ViewCategoryRequest request;
    request.set_category_id(random.Below(category_count_));
    request.set_count_max(kListedCount);
    request.set_work_seed(random.Next());
    return CallOf(house::kViewCategoryMethod, AccessMode::kRead, request.category_id(), request);
  }
  const size_t item = DrawItem(user, random);
  house::ViewItemRequest request;
  request.set_category_id(items_[item].category);
  request.set_item_id(items_[item].id);
  request.set_work_seed(random.Next());
  ReplicaCall call =
      CallOf(house::kViewItemMethod, AccessMode::kRead, request.category_id(), request);
  call.on_answer = [this, &user, item](const Status& status, const Data& answer) {
    if (!status.ok()) return;
    const auto found = answer.As<house::Item>();
    CHECK(found.ok()) << found.status();
    Saw(user, item, (*found)->highest().amount());
  };
  return call;
}

}  // namespace search::lab
