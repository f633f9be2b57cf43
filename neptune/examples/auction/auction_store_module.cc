#include "neptune/examples/auction/auction_store_module.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {

std::string MadeUpCategory(uint64_t number) {
  return StrCat("category ", number % kMadeUpCategoryCount);
}

void AuctionStoreModule::DeclareParameters(ParameterTable& table) {
  table.Whole("synthetic_items", {0, kItemCountMax}, &synthetic_items_,
              "number of initial items, the same on each replica");
  read_work_.DeclareParameter(table, "read_work_us");
  write_work_.DeclareParameter(table, "write_work_us");
}

Status AuctionStoreModule::Start(ModuleContext& context) {
  read_work_.Start(context);
  write_work_.Start(context);
  NEPTUNE_RETURN_IF_ERROR(MakeUpItems());
  life_ = Loop::Current()->random().Next();
  const auto method = [&](const char* name, const MethodOptions& options,
                          Status (AuctionStoreModule::*handler)(const Data&, Data*)) {
    context.registrar.Method(MethodName(name), options,
                             [this, handler](RequestContext&, const Data& in, Data* out) {
                               return (this->*handler)(in, out);
                             });
  };
  const MethodOptions read{.grain = Grain::kLong};
  const MethodOptions write{
      .access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false};
  method(kListMethod, read, &AuctionStoreModule::List);
  method(kStatusMethod, read, &AuctionStoreModule::ItemStatus);
  method(kBidMethod, write, &AuctionStoreModule::PlaceBid);
  method(kAddMethod, write, &AuctionStoreModule::AddItem);
  method(kChangesMethod, {}, &AuctionStoreModule::ChangesAfter);
  peers_ = std::make_unique<PeerChanges>(context.client, context.service, context.node,
                                         [this](const AuctionItem& item) {
                                           LeafLock lock(&mutex_);
                                           (void)catalogue_.Merge(item);
                                         });
  return peers_->Start();
}

Status AuctionStoreModule::MakeUpItems() {
  LeafLock lock(&mutex_);
  for (uint64_t id = 1; id <= synthetic_items_; ++id) {
    AuctionItem item;
    item.set_id(id);
    item.set_category(MadeUpCategory(id));
    item.set_title(StrCat("item ", id));
    NEPTUNE_RETURN_IF_ERROR(catalogue_.Merge(item));
  }
  return OkStatus();
}

Status AuctionStoreModule::List(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ListItemsRequest>());
  read_work_.Use(asked->work_seed());
  AuctionItems listed;
  {
    LeafLock lock(&mutex_);
    for (AuctionItem& item : catalogue_.List(asked->category(), asked->count_max())) {
      *listed.add_items() = std::move(item);
    }
  }
  *response = Data::Of(std::move(listed));
  return OkStatus();
}

Status AuctionStoreModule::ItemStatus(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ItemStatusRequest>());
  read_work_.Use(asked->work_seed());
  LeafLock lock(&mutex_);
  NEPTUNE_ASSIGN_OR_RETURN(AuctionItem item, catalogue_.Find(asked->item_id()));
  *response = Data::Of(std::move(item));
  return OkStatus();
}

Status AuctionStoreModule::PlaceBid(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<PlaceBidRequest>());
  write_work_.Use(asked->work_seed());
  PlaceBidResult result;
  {
    LeafLock lock(&mutex_);
    NEPTUNE_ASSIGN_OR_RETURN(*result.mutable_item(),
                             catalogue_.PlaceBid(asked->item_id(), asked->bid()));
  }
  const AuctionBid& highest = result.item().highest();
  result.set_leads(highest.bidder() == asked->bid().bidder() &&
                   highest.amount() == asked->bid().amount());
  *response = Data::Of(std::move(result));
  return OkStatus();
}

Status AuctionStoreModule::AddItem(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<AddItemRequest>());
  write_work_.Use(asked->work_seed());
  {
    LeafLock lock(&mutex_);
    NEPTUNE_RETURN_IF_ERROR(catalogue_.Merge(asked->item()));
  }
  *response = Data::Of(asked->item());
  return OkStatus();
}

Status AuctionStoreModule::ChangesAfter(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ChangesRequest>());
  Catalogue::ChangedItems changed;
  {
    LeafLock lock(&mutex_);
    changed =
        catalogue_.ChangesAfter(asked->life() == life_ ? asked->after() : 0, kChangesCountMax);
  }
  Changes changes;
  changes.set_life(life_);
  changes.set_up_to(changed.up_to);
  changes.set_complete(changed.complete);
  for (AuctionItem& item : changed.items) *changes.add_items() = std::move(item);
  *response = Data::Of(std::move(changes));
  return OkStatus();
}

}  // namespace neptune::examples
