// Command-line client of a running auction: lists a category, shows an item, bids for it, or adds
// one.

#include <gflags/gflags.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "neptune/examples/auction/auction.pb.h"
#include "neptune/examples/auction/auction_store_module.h"
#include "neptune/examples/client/example_client.h"

DEFINE_string(spec, "neptune/examples/auction/cluster.textproto", "spec of the running cluster");
DEFINE_string(category, "category 1", "category to list, or category of the item to add");
DEFINE_uint64(item, 0, "id of the item to show or to bid for");
DEFINE_uint64(bid, 0, "amount to bid for --item");
DEFINE_string(bidder, "guest", "name of the bidder");
DEFINE_string(add, "", "title of an item to add");

namespace {

using neptune::AccessMode;
using neptune::ClientSession;
using neptune::Data;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::AuctionItem;

template <typename Response, typename Request>
StatusOr<Response> Ask(ClientSession& session, const char* method, AccessMode access,
                       Request request) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(neptune::Call(session,
                                        {neptune::ServiceName("auction"), neptune::PartitionId(0),
                                         neptune::MethodName(method), access},
                                        Data::Of(std::move(request)), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const Response* const got, response.As<Response>());
  return *got;
}

void Show(const AuctionItem& item) {
  std::printf("%" PRIu64 "  %s  %s", item.id(), item.category().c_str(), item.title().c_str());
  if (item.has_highest()) {
    std::printf("  %" PRIu64 " by %s", item.highest().amount(), item.highest().bidder().c_str());
  }
  std::printf("\n");
}

Status List(ClientSession& session) {
  neptune::examples::ListItemsRequest request;
  request.set_category(FLAGS_category);
  request.set_count_max(neptune::examples::kListedCountMax);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto items, Ask<neptune::examples::AuctionItems>(
                            session, neptune::examples::kListMethod, AccessMode::kRead, request));
  for (const AuctionItem& item : items.items()) Show(item);
  return OkStatus();
}

Status ShowItem(ClientSession& session) {
  neptune::examples::ItemStatusRequest request;
  request.set_item_id(FLAGS_item);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto item,
      Ask<AuctionItem>(session, neptune::examples::kStatusMethod, AccessMode::kRead, request));
  Show(item);
  return OkStatus();
}

Status PlaceBid(ClientSession& session) {
  neptune::examples::PlaceBidRequest request;
  request.set_item_id(FLAGS_item);
  request.mutable_bid()->set_bidder(FLAGS_bidder);
  request.mutable_bid()->set_amount(FLAGS_bid);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto result, Ask<neptune::examples::PlaceBidResult>(
                             session, neptune::examples::kBidMethod, AccessMode::kWrite, request));
  std::printf(result.leads() ? "leads: " : "does not lead: ");
  Show(result.item());
  return OkStatus();
}

Status AddItem(ClientSession& session) {
  neptune::examples::AddItemRequest request;
  request.mutable_item()->set_category(FLAGS_category);
  request.mutable_item()->set_title(FLAGS_add);
  NEPTUNE_ASSIGN_OR_RETURN(const auto item, Ask<AuctionItem>(session, neptune::examples::kAddMethod,
                                                             AccessMode::kWrite, request));
  Show(item);
  return OkStatus();
}

Status DoAsTold(ClientSession& session, uint32_t) {
  if (!FLAGS_add.empty()) return AddItem(session);
  if (FLAGS_item == 0) return List(session);
  return FLAGS_bid > 0 ? PlaceBid(session) : ShowItem(session);
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "lists a category of a running auction, shows an item, bids for it, or adds one",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("auction"),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask = DoAsTold});
}
