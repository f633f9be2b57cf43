// The replicated auction: its five methods, what they refuse, and what a session never sees.

#include <gtest/gtest.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/examples/auction/auction_house.pb.h"
#include "neptune/examples/auction/auction_house_module.h"
#include "neptune/examples/auction/auction_house_store.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples::auction_house {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("auction_house");
constexpr uint64_t kCategoryCount = 1000;
constexpr uint32_t kPartitionCount = 4;

ExampleClusterOptions Cluster() {
  ExampleClusterOptions options;
  options.spec_file = "neptune/examples/auction/auction_house.textproto";
  options.modules = [](const std::string&) { return std::make_unique<AuctionHouseModule>(); };
  return options;
}

template <typename Answer, typename Request>
StatusOr<Answer> AskPartition(ReplicaSession& session, uint64_t partition, const char* method,
                              AccessMode access, const Request& request) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(session.Call(
      {kService, PartitionId(static_cast<uint32_t>(partition)), MethodName(method), access},
      Data::Of(request), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicaSession& session, const char* method, AccessMode access,
                     const Request& request) {
  return AskPartition<Answer>(session, request.category_id() % kPartitionCount, method, access,
                              request);
}

StatusOr<Item> Add(ReplicaSession& session, uint64_t category, const std::string& title) {
  AddItemRequest request;
  request.set_category_id(category);
  request.set_title(title);
  request.set_seller("sam");
  return Ask<Item>(session, kAddItemMethod, AccessMode::kWrite, request);
}

StatusOr<BidItemResult> Place(ReplicaSession& session, uint64_t category, uint64_t item,
                              const std::string& bidder, uint64_t amount) {
  BidItemRequest request;
  request.set_category_id(category);
  request.set_item_id(item);
  request.mutable_bid()->set_bidder(bidder);
  request.mutable_bid()->set_amount(amount);
  return Ask<BidItemResult>(session, kBidItemMethod, AccessMode::kWrite, request);
}

StatusOr<Item> View(ReplicaSession& session, uint64_t category, uint64_t item) {
  ViewItemRequest request;
  request.set_category_id(category);
  request.set_item_id(item);
  return Ask<Item>(session, kViewItemMethod, AccessMode::kRead, request);
}

class AuctionHouseTest : public testing::Test {
 protected:
  AuctionHouseTest() : cluster_(Cluster()) { cluster_.simulator().RunFor(seconds(2)); }
  void InSession(const std::function<void(ReplicaSession&)>& body) {
    cluster_.RunOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      body(replicas);
    });
  }
  SimulatedExample cluster_;
};

TEST_F(AuctionHouseTest, TheHighestBidLeads) {
  InSession([](ReplicaSession& session) {
    const auto added = Add(session, 6, "a lamp");
    ASSERT_TRUE(added.ok()) << added.status();
    EXPECT_EQ(added->id(), 1u);
    const std::tuple<const char*, uint64_t, bool> bids[] = {
        {"eve", 10, true}, {"bob", 10, false}, {"bob", 12, true}, {"eve", 11, false}};
    for (const auto& [bidder, amount, leads] : bids) {
      const auto result = Place(session, 6, 1, bidder, amount);
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_EQ(result->leads(), leads) << bidder << " " << amount;
    }
    const auto item = View(session, 6, 1);
    ASSERT_TRUE(item.ok()) << item.status();
    EXPECT_EQ(item->highest().bidder(), "bob");
    EXPECT_EQ(item->highest().amount(), 12u);
    EXPECT_EQ(item->bid_count(), 4u);
    EXPECT_EQ(item->title(), "a lamp");
  });
}

TEST_F(AuctionHouseTest, ListsInPages) {
  InSession([](ReplicaSession& session) {
    for (const uint64_t category : {3, 7, 7, 7, 11}) ASSERT_TRUE(Add(session, category, "t").ok());
    ViewCategoriesRequest all;
    all.set_count_max(2);
    const auto first =
        AskPartition<Categories>(session, 3, kViewCategoriesMethod, AccessMode::kRead, all);
    ASSERT_TRUE(first.ok()) << first.status();
    ASSERT_EQ(first->categories_size(), 2);
    EXPECT_EQ(first->categories(1).id(), 7u);
    EXPECT_EQ(first->categories(1).item_count(), 3u);
    EXPECT_TRUE(first->has_more());
    all.set_first_id(8);
    const auto rest =
        AskPartition<Categories>(session, 3, kViewCategoriesMethod, AccessMode::kRead, all);
    ASSERT_EQ(rest->categories_size(), 1);
    EXPECT_EQ(rest->categories(0).id(), 11u);
    EXPECT_FALSE(rest->has_more());
    ViewCategoryRequest one;
    one.set_category_id(7);
    one.set_first_id(2);
    const auto items = Ask<Items>(session, kViewCategoryMethod, AccessMode::kRead, one);
    ASSERT_EQ(items->items_size(), 2);
    EXPECT_EQ(items->items(0).id(), 2u);
    EXPECT_EQ(items->items(1).id(), 3u);
    EXPECT_FALSE(items->has_more());
  });
}

TEST_F(AuctionHouseTest, RefusesInvalidRequests) {
  InSession([](ReplicaSession& session) {
    ASSERT_TRUE(Add(session, 1, "t").ok());
    EXPECT_EQ(Add(session, 1, "").status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Add(session, 1, std::string(kTextSizeMax + 1, 'x')).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(Add(session, kCategoryCount, "t").status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Place(session, 1, 2, "eve", 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Place(session, 1, 1, "eve", 0).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Place(session, 1, 1, "", 1).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(View(session, 1, 0).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(View(session, kCategoryCount, 1).status().code(), StatusCode::kNotFound);
    ViewItemRequest elsewhere;
    elsewhere.set_category_id(2);
    EXPECT_EQ(AskPartition<Item>(session, 1, kViewItemMethod, AccessMode::kRead, elsewhere)
                  .status()
                  .code(),
              StatusCode::kInvalidArgument);
    Data response;
    EXPECT_EQ(session
                  .Call({kService, PartitionId(1), MethodName(kBidItemMethod), AccessMode::kWrite},
                        Data("\xff no message"), &response)
                  .code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(View(session, 1, 1)->bid_count(), 0u);
  });
}

// One session bids all the time, another one watches, and each node loses its power once.
TEST_F(AuctionHouseTest, ASessionNeverSeesABidDecrease) {
  InSession([](ReplicaSession& session) { ASSERT_TRUE(Add(session, 5, "a lamp").ok()); });
  Simulator& simulator = cluster_.simulator();
  const TimePoint began = simulator.now();
  const char* const nodes[] = {"house-1", "house-2", "house-3"};
  for (int i = 0; i < 3; ++i) {
    const TimePoint at = began + seconds(2 + 5 * i);
    simulator.At(at, [&, i] { simulator.Crash(nodes[i]); });
    simulator.At(at + seconds(2), [&, i] { simulator.Restart(nodes[i]); });
  }
  bool is_over = false;
  uint64_t offered = 0;
  Node& client = cluster_.node("client");
  client.RunOnControl([&] {
    ReplicaSession session{ClientSession(client.client())};
    while (!is_over) {
      const auto result = Place(session, 5, 1, "eve", ++offered);
      EXPECT_TRUE(result.ok()) << result.status();
      if (result.ok()) {
        EXPECT_EQ(result->item().highest().amount(), offered);
      }
      this_thread::SleepFor(milliseconds(20));
    }
  });
  InSession([&](ReplicaSession& session) {
    uint64_t seen = 0;
    while (this_thread::Now() < began + seconds(18)) {
      const auto item = View(session, 5, 1);
      EXPECT_TRUE(item.ok()) << item.status();
      if (item.ok()) {
        EXPECT_GE(item->highest().amount(), seen);
        seen = item->highest().amount();
      }
      this_thread::SleepFor(milliseconds(10));
    }
    is_over = true;
    EXPECT_GT(seen, 500u);
  });
  simulator.RunFor(seconds(2));
}

}  // namespace
}  // namespace neptune::examples::auction_house
