#include "neptune/examples/auction/auction_house_store.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/replication/state/stored_message.h"

namespace neptune::examples::auction_house {
namespace {

void AppendBigEndian(std::string* to, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) to->push_back(static_cast<char>(number >> shift));
}

std::string CategoryKey(uint64_t category) {
  std::string key = "c";
  AppendBigEndian(&key, category);
  return key;
}

std::string ItemKey(uint64_t category, uint64_t item) {
  std::string key = "i";
  AppendBigEndian(&key, category);
  AppendBigEndian(&key, item);
  return key;
}

StatusOr<Item> FindItem(const StoreView& store, uint64_t category, uint64_t id) {
  NEPTUNE_ASSIGN_OR_RETURN(auto item, FindStored<Item>(store, ItemKey(category, id)));
  if (!item) return NotFound("category ", category, " has no item ", id);
  return *std::move(item);
}

// Appends the records from `bounds.first` on, up to the requested number. Returns true if there are
// more.
template <typename Message>
StatusOr<bool> List(const StoreView& store, const ScanOptions& bounds, uint32_t count_max,
                    google::protobuf::RepeatedPtrField<Message>* list) {
  const uint32_t wanted = count_max == 0 ? kListedCountDefault : count_max;
  const int most = static_cast<int>(std::min(wanted, kListedCountMax));
  bool has_more = false;
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(store.Scan(bounds, [&](std::string_view, std::string_view value) {
    has_more = list->size() == most;
    if (has_more) return false;
    StatusOr<Message> one = ParseStored<Message>(value);
    damage = one.status();
    if (one.ok()) *list->Add() = *std::move(one);
    return damage.ok();
  }));
  if (!damage.ok()) return damage;
  return has_more;
}

Status CheckText(const char* what, const std::string& text) {
  if (!text.empty() && text.size() <= kTextSizeMax) return OkStatus();
  return InvalidArgument(what, " has ", text.size(), " bytes, expected 1 to ", kTextSizeMax);
}

}  // namespace

StatusOr<Categories> ReadCategories(const StoreView& store, const ViewCategoriesRequest& request) {
  Categories answer;
  NEPTUNE_ASSIGN_OR_RETURN(
      const bool has_more,
      List(store, {.first = CategoryKey(request.first_id()), .end = CategoryKey(UINT64_MAX)},
           request.count_max(), answer.mutable_categories()));
  answer.set_has_more(has_more);
  return answer;
}

StatusOr<Items> ReadCategory(const StoreView& store, const ViewCategoryRequest& request) {
  Items answer;
  const uint64_t category = request.category_id();
  NEPTUNE_ASSIGN_OR_RETURN(
      const bool has_more,
      List(store,
           {.first = ItemKey(category, request.first_id()), .end = ItemKey(category, UINT64_MAX)},
           request.count_max(), answer.mutable_items()));
  answer.set_has_more(has_more);
  return answer;
}

StatusOr<Item> ReadItem(const StoreView& store, const ViewItemRequest& request) {
  return FindItem(store, request.category_id(), request.item_id());
}

StatusOr<Item> AddItem(const WriteContext& write, const AddItemRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckText("the title", request.title()));
  NEPTUNE_RETURN_IF_ERROR(CheckText("the seller's name", request.seller()));
  const std::string key = CategoryKey(request.category_id());
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept, FindStored<Category>(write.store, key));
  Category category = kept.value_or(Category());
  if (category.item_count() >= kItemCountMax) {
    return ResourceExhausted("category ", request.category_id(), " holds ", kItemCountMax,
                             " items");
  }
  category.set_id(request.category_id());
  category.set_item_count(category.item_count() + 1);
  Item item;
  item.set_id(category.item_count());
  item.set_category_id(request.category_id());
  item.set_title(request.title());
  item.set_seller(request.seller());
  write.changes.Put(key, category.SerializeAsString());
  write.changes.Put(ItemKey(item.category_id(), item.id()), item.SerializeAsString());
  return item;
}

StatusOr<BidItemResult> BidItem(const WriteContext& write, const BidItemRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckText("the bidder's name", request.bid().bidder()));
  if (request.bid().amount() == 0) return InvalidArgument("the bid is 0");
  BidItemResult result;
  NEPTUNE_ASSIGN_OR_RETURN(*result.mutable_item(),
                           FindItem(write.store, request.category_id(), request.item_id()));
  Item& item = *result.mutable_item();
  result.set_leads(request.bid().amount() > item.highest().amount());
  if (result.leads()) *item.mutable_highest() = request.bid();
  item.set_bid_count(item.bid_count() + 1);
  write.changes.Put(ItemKey(item.category_id(), item.id()), item.SerializeAsString());
  return result;
}

}  // namespace neptune::examples::auction_house
