#include "neptune/examples/auction/auction_module.h"

#include <utility>

#include "neptune/examples/auction/auction.pb.h"
#include "neptune/examples/auction/auction_store_module.h"
#include "neptune/examples/auction/catalogue.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {

void AuctionModule::DeclareParameters(ParameterTable& table) {
  table.Text("store", &store_, "the service that holds the items");
  work_.DeclareParameter(table, "work_us");
}

Status AuctionModule::Start(ModuleContext& context) {
  client_ = &context.client;
  work_.Start(context);
  const auto method = [&](const char* name, const MethodOptions& options, auto handler) {
    context.registrar.Method(MethodName(name), options,
                             [this, handler](RequestContext& request, const Data& in, Data* out) {
                               return (this->*handler)(request, in, out);
                             });
  };
  const MethodOptions read{.grain = Grain::kLong};
  const MethodOptions write{
      .access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false};
  method(kListMethod, read, &AuctionModule::List);
  method(kStatusMethod, read, &AuctionModule::ItemStatus);
  method(kBidMethod, write, &AuctionModule::PlaceBid);
  method(kAddMethod, write, &AuctionModule::AddItem);
  return OkStatus();
}

Status AuctionModule::List(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ListItemsRequest>());
  if (asked->category().empty()) return InvalidArgument("the category is missing");
  work_.Use(asked->work_seed());
  return AskStore(context, kListMethod, AccessMode::kRead, request, response);
}

Status AuctionModule::ItemStatus(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ItemStatusRequest>());
  work_.Use(asked->work_seed());
  return AskStore(context, kStatusMethod, AccessMode::kRead, request, response);
}

Status AuctionModule::PlaceBid(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<PlaceBidRequest>());
  NEPTUNE_RETURN_IF_ERROR(ValidateBid(asked->bid()));
  work_.Use(asked->work_seed());
  return AskStore(context, kBidMethod, AccessMode::kWrite, request, response);
}

// The id is assigned here, so that the store adds the item only once if the call is repeated.
Status AuctionModule::AddItem(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<AddItemRequest>());
  if (asked->item().id() != 0) return InvalidArgument("a new item must not have an id");
  AddItemRequest named = *asked;
  while (named.item().id() == 0) named.mutable_item()->set_id(Loop::Current()->random().Next());
  NEPTUNE_RETURN_IF_ERROR(ValidateItem(named.item()));
  work_.Use(asked->work_seed());
  return AskStore(context, kAddMethod, AccessMode::kWrite, Data::Of(std::move(named)), response);
}

Status AuctionModule::AskStore(RequestContext& context, const char* method, AccessMode access,
                               const Data& request, Data* response) {
  ClientSession session(*client_, context);
  return Call(session, {ServiceName(store_), PartitionId(0), MethodName(method), access}, request,
              response);
}

}  // namespace neptune::examples
