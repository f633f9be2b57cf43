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
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "auction"; }

 private:
  Status List(RequestContext& context, const Data& request, Data* response);
  Status ItemStatus(RequestContext& context, const Data& request, Data* response);
  Status PlaceBid(RequestContext& context, const Data& request, Data* response);
  Status AddItem(RequestContext& context, const Data& request, Data* response);

  Status AskStore(RequestContext& context, const char* method, AccessMode access,
                  const Data& request, Data* response);

  std::string store_ = "auction_store";  // fixed before Start
  Client* client_ = nullptr;             // set by Start
  ModelledWork work_;
};

}  // namespace neptune::examples
