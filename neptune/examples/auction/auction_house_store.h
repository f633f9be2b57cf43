// The items of auction categories in a partition's store.
//
//   c CATEGORY        Category
//   i CATEGORY ITEM   Item
//
// CATEGORY and ITEM are numbers of 8 bytes, big-endian, so lists are scans from any position.
//
// Source: [Shen02] 5.3 (auction).
// Departs from source: an ordered key-value store instead of MySQL; no accounts.
// Threads: pure functions of the store.
// Errors: kNotFound no such item; kInvalidArgument an item or bid exceeds a limit;
//   kResourceExhausted kItemCountMax items; kDataLoss a stored record is damaged; those of the
//   store.
// Limits: the constants below.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/examples/auction/auction_house.pb.h"
#include "neptune/replication/state/store_state.h"

namespace neptune::examples::auction_house {

inline constexpr uint64_t kItemCountMax = 1'000'000;  // in a category
inline constexpr size_t kTextSizeMax = 200;           // bytes of a title or name
inline constexpr uint32_t kListedCountDefault = 50;
inline constexpr uint32_t kListedCountMax = 1'000;

StatusOr<Categories> ReadCategories(const StoreView& store, const ViewCategoriesRequest& request);
StatusOr<Items> ReadCategory(const StoreView& store, const ViewCategoryRequest& request);
StatusOr<Item> ReadItem(const StoreView& store, const ViewItemRequest& request);
// The following are writes.
StatusOr<Item> AddItem(const WriteContext& write, const AddItemRequest& request);
// A bid leads if it is higher than all bids before it.
StatusOr<BidItemResult> BidItem(const WriteContext& write, const BidItemRequest& request);

}  // namespace neptune::examples::auction_house
