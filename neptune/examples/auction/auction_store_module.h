// The store of the auction: one catalogue, complete on each replica.
//
//   List     ListItemsRequest → AuctionItems
//   Status   ItemStatusRequest → AuctionItem
//   Bid      PlaceBidRequest → PlaceBidResult; an idempotent write
//   Add      AddItemRequest → AuctionItem; an idempotent write
//   Changes  ChangesRequest → Changes; for peers
//
// A write is executed on the replica that receives it; the others pull it (peer_changes.h). A
// reader may therefore miss the latest bids for a second or two.
//
// Source: [Chu05] VI.A (AUC); [Shen02] 5.3.
// Departs from source: writes go to any replica, not to a primary; the data is in memory.
// Threads: see ServiceModule.
// Errors: those of catalogue.h.

#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/examples/auction/catalogue.h"
#include "neptune/examples/auction/peer_changes.h"
#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kListMethod[] = "List";
inline constexpr char kStatusMethod[] = "Status";
inline constexpr char kBidMethod[] = "Bid";
inline constexpr char kAddMethod[] = "Add";

// Synthetic items have ids from 1 and are assigned to these categories in turn.
inline constexpr uint64_t kMadeUpCategoryCount = 20;
std::string MadeUpCategory(uint64_t number);

class AuctionStoreModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  void Stop() override { peers_->Stop(); }
  std::string implementation() const override { return "auction_store"; }

 private:
  Status MakeUpItems();
  Status List(const Data& request, Data* response);
  Status ItemStatus(const Data& request, Data* response);
  Status PlaceBid(const Data& request, Data* response);
  Status AddItem(const Data& request, Data* response);
  Status ChangesAfter(const Data& request, Data* response);

  uint64_t life_ = 0;             // distinguishes this catalogue from those of earlier starts
  uint64_t synthetic_items_ = 0;  // fixed before Start
  ModelledWork read_work_;
  ModelledWork write_work_;
  std::unique_ptr<PeerChanges> peers_;
  LeafMutex mutex_;
  Catalogue catalogue_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune::examples
