// The replicated auction: bids have one order, and a session never sees a bid decrease.
//
//   ViewCategories   ViewCategoriesRequest → Categories
//   ViewCategory     ViewCategoryRequest → Items
//   ViewItem         ViewItemRequest → Item
//   AddItem          AddItemRequest → Item; a write
//   BidItem          BidItemRequest → BidItemResult; a write
//
// Category c is in partition c % partition count.
//
// Every replica does the modelled work of a write.
//
// Source: [Shen02] 5.3 (auction).
// Threads: see ServiceModule.
// Errors: those of auction_house_store.h; kNotFound no such category; kInvalidArgument a category
//   of another partition, a malformed request.
// Limits: kCategoryCountMax categories; auction_house_store.h.

#pragma once

#include <memory>
#include <string>

#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/replication/agent/replicated_service.h"
#include "neptune/service/service_module.h"

namespace neptune::examples::auction_house {

inline constexpr char kViewCategoriesMethod[] = "ViewCategories";
inline constexpr char kViewCategoryMethod[] = "ViewCategory";
inline constexpr char kViewItemMethod[] = "ViewItem";
inline constexpr char kAddItemMethod[] = "AddItem";
inline constexpr char kBidItemMethod[] = "BidItem";
inline constexpr uint64_t kCategoryCountMax = 1'000'000;

class AuctionHouseModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  Status Health(PartitionId partition) override { return service_->Health(partition); }
  std::string implementation() const override { return "auction_house"; }
  void Stop() override { service_.reset(); }

 private:
  // Returns OK if the category exists and is in this partition.
  Status CheckCategory(uint64_t category, PartitionId partition) const;
  // Register a read or write of the store as a method.
  template <typename Request, typename Answer>
  void Read(const char* method, StatusOr<Answer> (*read)(const StoreView&, const Request&));
  template <typename Request, typename Answer>
  void Write(const char* method, StatusOr<Answer> (*write)(const WriteContext&, const Request&));
  void UseWriteWork(const LogEntry& entry) const;

  // Parameters, fixed before Start.
  uint64_t category_count_ = 100;
  uint64_t partition_count_ = 1;
  ModelledWork read_work_;
  ModelledWork add_work_;
  ModelledWork bid_work_;
  std::unique_ptr<ReplicatedService> service_;
};

}  // namespace neptune::examples::auction_house
