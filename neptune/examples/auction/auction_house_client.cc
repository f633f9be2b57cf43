// Command-line client of a running replicated auction: lists categories, lists one, shows an item,
// bids for it, or adds one.

#include <gflags/gflags.h>

#include <cstdio>
#include <utility>

#include "neptune/examples/auction/auction_house.pb.h"
#include "neptune/examples/auction/auction_house_module.h"
#include "neptune/examples/client/ask_replicas.h"
#include "neptune/examples/client/example_client.h"

DEFINE_string(spec, "neptune/examples/auction/auction_house.textproto",
              "spec of the running cluster");
DEFINE_int64(category, -1, "category number; -1: list all categories");
DEFINE_uint64(item, 0, "item of the category to show; 0: list all items");
DEFINE_uint64(bid, 0, "amount to bid for the item");
DEFINE_string(name, "guest", "name of the bidder or seller");
DEFINE_string(add, "", "title of an item to add to the category");

namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::OkStatus;
using neptune::ReplicaSession;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::AskReplicas;
using neptune::examples::ReplicasAsked;
namespace house = neptune::examples::auction_house;

unsigned long long Wide(uint64_t number) { return number; }

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicasAsked& asked, const char* method, AccessMode access, Request request) {
  request.set_category_id(static_cast<uint64_t>(FLAGS_category));
  return AskReplicas<Answer>(asked, request.category_id(), method, access, request);
}

void Show(const house::Item& item) {
  std::printf("item %llu: %s, sold by %s; %llu bids, the highest %llu %s\n", Wide(item.id()),
              item.title().c_str(), item.seller().c_str(), Wide(item.bid_count()),
              Wide(item.highest().amount()), item.highest().bidder().c_str());
}

Status ListCategories(ReplicasAsked& asked) {
  for (uint32_t p = 0; p < asked.partition_count; ++p) {
    house::ViewCategoriesRequest request;
    bool has_more = true;
    while (has_more) {
      NEPTUNE_ASSIGN_OR_RETURN(
          const auto page, AskReplicas<house::Categories>(asked, p, house::kViewCategoriesMethod,
                                                          AccessMode::kRead, request));
      for (const house::Category& category : page.categories()) {
        std::printf("category %llu: %llu items\n", Wide(category.id()),
                    Wide(category.item_count()));
        request.set_first_id(category.id() + 1);
      }
      has_more = page.has_more();
    }
  }
  return OkStatus();
}

Status ListCategory(ReplicasAsked& asked) {
  house::ViewCategoryRequest request;
  bool has_more = true;
  while (has_more) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto page, Ask<house::Items>(asked, house::kViewCategoryMethod,
                                                                AccessMode::kRead, request));
    for (const house::Item& item : page.items()) {
      Show(item);
      request.set_first_id(item.id() + 1);
    }
    has_more = page.has_more();
  }
  return OkStatus();
}

Status ShowItem(ReplicasAsked& asked) {
  house::ViewItemRequest request;
  request.set_item_id(FLAGS_item);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto item, Ask<house::Item>(asked, house::kViewItemMethod, AccessMode::kRead, request));
  Show(item);
  return OkStatus();
}

Status PlaceBid(ReplicasAsked& asked) {
  house::BidItemRequest request;
  request.set_item_id(FLAGS_item);
  request.mutable_bid()->set_bidder(FLAGS_name);
  request.mutable_bid()->set_amount(FLAGS_bid);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto result,
      Ask<house::BidItemResult>(asked, house::kBidItemMethod, AccessMode::kWrite, request));
  std::printf(result.leads() ? "leads: " : "does not lead: ");
  Show(result.item());
  return OkStatus();
}

Status AddItem(ReplicasAsked& asked) {
  house::AddItemRequest request;
  request.set_title(FLAGS_add);
  request.set_seller(FLAGS_name);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto item, Ask<house::Item>(asked, house::kAddItemMethod, AccessMode::kWrite, request));
  Show(item);
  return OkStatus();
}

Status DoAsTold(neptune::ClientSession& session, uint32_t partition_count) {
  ReplicasAsked asked{ReplicaSession(session), neptune::ServiceName("auction_house"),
                      partition_count};
  if (FLAGS_category < 0) return ListCategories(asked);
  if (!FLAGS_add.empty()) return AddItem(asked);
  if (FLAGS_item == 0) return ListCategory(asked);
  return FLAGS_bid > 0 ? PlaceBid(asked) : ShowItem(asked);
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage =
           "lists categories of a running replicated auction, shows an item, bids, or adds one",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("auction_house"),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask = DoAsTold});
}
