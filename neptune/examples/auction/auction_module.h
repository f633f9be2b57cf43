// The auction's front end: answers a web page's requests from the replica of the store that a call
// chooses.
//
//   List     ListItemsRequest → AuctionItems
//   Status   ItemStatusRequest → AuctionItem
//   Bid      PlaceBidRequest → PlaceBidResult
//   Add      AddItemRequest, without id → AuctionItem
//
// Every method is a plain blocking function: it checks the request, then calls the store and waits.
//
// Parameters of the service or node:
//   store     the service that holds the items. Default: auction_store.
//   work_us   see modelled_work.h. Default: none.
//
// Source: [Chu05] VI.A (AUC), figure 5 (C).
// Threads: see ServiceModule.
// Errors: kInvalidArgument the request is invalid; those of the store; those of a call.

#pragma once

#include <string>

#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

class AuctionModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "auction"; }

 private:
  Status List(RequestContext& context, const Data& request, Data* response);
  Status ItemStatus(RequestContext& context, const Data& request, Data* response);
  Status PlaceBid(RequestContext& context, const Data& request, Data* response);
  Status AddItem(RequestContext& context, const Data& request, Data* response);

  Status AskStore(RequestContext& context, const char* method, AccessMode access,
                  const Data& request, Data* response);

  Client* client_ = nullptr;  // set by Start
  ServiceName store_{"auction_store"};
  ModelledWork work_;
};

}  // namespace neptune::examples
