// The auction on its own cluster spec, in both worlds: what is written on one replica is read on
// all of them.

#include <gtest/gtest.h>

#include <utility>

#include "neptune/examples/auction/auction.pb.h"
#include "neptune/examples/auction/auction_module.h"
#include "neptune/examples/auction/auction_store_module.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

using std::chrono::seconds;

const ServiceName kAuction("auction");
const ServiceName kStore("auction_store");
constexpr const char* kStores[] = {"auction-store-1", "auction-store-2", "auction-store-3"};

ExampleClusterOptions Cluster() {
  ExampleClusterOptions options;
  options.spec_file = "neptune/examples/auction/cluster.textproto";
  options.modules = [](const std::string& name) -> std::unique_ptr<ServiceModule> {
    if (name == "auction") return std::make_unique<AuctionModule>();
    return std::make_unique<AuctionStoreModule>();
  };
  return options;
}

template <typename Response, typename Request>
StatusOr<Response> Ask(ClientSession& session, const ServiceName& service, const char* method,
                       AccessMode access, const Request& request, const CallOptions& options = {}) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(Call(session, {service, PartitionId(0), MethodName(method), access},
                               Data::Of(request), &response, options));
  NEPTUNE_ASSIGN_OR_RETURN(const Response* const got, response.As<Response>());
  return *got;
}

StatusOr<AuctionItem> Add(ClientSession& session, const std::string& title) {
  AddItemRequest request;
  request.mutable_item()->set_category("lamps");
  request.mutable_item()->set_title(title);
  return Ask<AuctionItem>(session, kAuction, kAddMethod, AccessMode::kWrite, request);
}

StatusOr<PlaceBidResult> PlaceBid(ClientSession& session, uint64_t id, const std::string& bidder,
                                  uint64_t amount) {
  PlaceBidRequest request;
  request.set_item_id(id);
  request.mutable_bid()->set_bidder(bidder);
  request.mutable_bid()->set_amount(amount);
  return Ask<PlaceBidResult>(session, kAuction, kBidMethod, AccessMode::kWrite, request);
}

StatusOr<AuctionItem> StatusOn(ClientSession& session, const std::string& node, uint64_t id) {
  ItemStatusRequest request;
  request.set_item_id(id);
  return Ask<AuctionItem>(session, kStore, kStatusMethod, AccessMode::kRead, request,
                          {.only = NodeId(node)});
}

StatusOr<AuctionItems> List(ClientSession& session, const std::string& category) {
  ListItemsRequest request;
  request.set_category(category);
  request.set_count_max(100);
  return Ask<AuctionItems>(session, kAuction, kListMethod, AccessMode::kRead, request);
}

// Adds an item, bids for it, and reads its state on each replica.
void Trade(ClientSession& session) {
  const auto added = Add(session, "a lamp");
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_NE(added->id(), 0u);
  this_thread::SleepFor(seconds(2));
  const auto lower = PlaceBid(session, added->id(), "bob", 10);
  ASSERT_TRUE(lower.ok()) << lower.status();
  EXPECT_TRUE(lower->leads());
  this_thread::SleepFor(seconds(2));
  const auto higher = PlaceBid(session, added->id(), "eve", 20);
  ASSERT_TRUE(higher.ok()) << higher.status();
  EXPECT_TRUE(higher->leads());
  this_thread::SleepFor(seconds(2));
  const auto late = PlaceBid(session, added->id(), "bob", 15);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_FALSE(late->leads());
  for (const char* const store : kStores) {
    const auto item = StatusOn(session, store, added->id());
    ASSERT_TRUE(item.ok()) << store << ": " << item.status();
    EXPECT_EQ(item->title(), "a lamp");
    EXPECT_EQ(item->highest().bidder(), "eve") << store;
    EXPECT_EQ(item->highest().amount(), 20u) << store;
  }
  const auto listed = List(session, "lamps");
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->items_size(), 1);
  EXPECT_EQ(listed->items(0).id(), added->id());
}

TEST(AuctionTest, TradesInTheSimulatedWorld) {
  SimulatedExample cluster(Cluster());
  cluster.RunOnClient(Trade);
}

TEST(AuctionTest, TradesInTheRealWorld) {
  RealExample cluster(Cluster());
  cluster.RunOnClient(Trade);
}

TEST(AuctionTest, EveryReplicaBeginsWithTheSameItems) {
  SimulatedExample cluster(Cluster());
  cluster.RunOnClient([](ClientSession& session) {
    const auto listed = List(session, MadeUpCategory(7));
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(listed->items_size(), 50);
    for (const char* const store : kStores) {
      EXPECT_EQ(StatusOn(session, store, 1000)->title(), "item 1000") << store;
      EXPECT_EQ(StatusOn(session, store, 1001).status().code(), StatusCode::kNotFound) << store;
    }
  });
}

TEST(AuctionTest, AReplicaThatWasAwayCatchesUp) {
  SimulatedExample cluster(Cluster());
  Simulator& simulator = cluster.simulator();
  const auto away = [&](const char* store) {
    cluster.RunOnClient([](ClientSession& session) {
      const auto bid = PlaceBid(session, 5, "eve", 50);
      ASSERT_TRUE(bid.ok()) << bid.status();
    });
    simulator.RunFor(seconds(5));
    cluster.RunOnClient([store](ClientSession& session) {
      const auto item = StatusOn(session, store, 5);
      ASSERT_TRUE(item.ok()) << store << ": " << item.status();
      EXPECT_EQ(item->highest().bidder(), "eve") << store;
    });
  };
  // One replica is cut off while the bid is placed, and back when it is read; one restarts empty.
  const auto cut = simulator.Partition(
      {"auction-store-1"}, {"auction-web", "auction-store-2", "auction-store-3", "client"});
  simulator.RunFor(seconds(10));
  simulator.At(simulator.now() + seconds(4), [&] { simulator.Heal(cut); });
  away("auction-store-1");
  simulator.Crash("auction-store-2");
  simulator.RunFor(seconds(1));
  simulator.Restart("auction-store-2");
  simulator.RunFor(seconds(3));
  away("auction-store-2");
}

TEST(AuctionTest, RefusesEmptyRequests) {
  SimulatedExample cluster(Cluster());
  cluster.RunOnClient([](ClientSession& session) {
    EXPECT_EQ(List(session, "").status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Add(session, "").status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(PlaceBid(session, 1, "eve", 0).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(PlaceBid(session, 1, "", 5).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(PlaceBid(session, 4711, "eve", 5).status().code(), StatusCode::kNotFound);
  });
}

}  // namespace
}  // namespace neptune::examples
