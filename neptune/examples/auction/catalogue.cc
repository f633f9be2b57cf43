#include "neptune/examples/auction/catalogue.h"

#include <algorithm>

namespace neptune::examples {
namespace {

Status ValidateText(const char* what, const std::string& text) {
  if (!text.empty() && text.size() <= kAuctionTextSizeMax) return OkStatus();
  return InvalidArgument("the ", what, " has ", text.size(), " bytes, expected 1 to ",
                         kAuctionTextSizeMax);
}

}  // namespace

Status ValidateBid(const AuctionBid& bid) {
  if (bid.amount() == 0) return InvalidArgument("the bid is 0");
  return ValidateText("bidder's name", bid.bidder());
}

Status ValidateItem(const AuctionItem& item) {
  if (item.id() == 0) return InvalidArgument("the item has no id");
  NEPTUNE_RETURN_IF_ERROR(ValidateText("category", item.category()));
  NEPTUNE_RETURN_IF_ERROR(ValidateText("title", item.title()));
  return item.has_highest() ? ValidateBid(item.highest()) : OkStatus();
}

bool Leads(const AuctionBid& bid, const AuctionBid& other) {
  if (bid.amount() != other.amount()) return bid.amount() > other.amount();
  return bid.amount() > 0 && bid.bidder() < other.bidder();
}

Status Catalogue::Merge(const AuctionItem& item) {
  NEPTUNE_RETURN_IF_ERROR(ValidateItem(item));
  const auto found = entries_.find(item.id());
  if (found != entries_.end()) {
    return item.has_highest() ? PlaceBid(item.id(), item.highest()).status() : OkStatus();
  }
  if (entries_.size() >= kItemCountMax) {
    return ResourceExhausted("the catalogue holds ", kItemCountMax, " items");
  }
  Entry& entry = entries_[item.id()];
  entry.item = item;
  categories_[item.category()].insert(item.id());
  Changed(entry);
  return OkStatus();
}

StatusOr<AuctionItem> Catalogue::Find(uint64_t id) const {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return NotFound("no item ", id);
  return found->second.item;
}

StatusOr<AuctionItem> Catalogue::PlaceBid(uint64_t id, const AuctionBid& bid) {
  NEPTUNE_RETURN_IF_ERROR(ValidateBid(bid));
  const auto found = entries_.find(id);
  if (found == entries_.end()) return NotFound("no item ", id);
  Entry& entry = found->second;
  if (Leads(bid, entry.item.highest())) {
    *entry.item.mutable_highest() = bid;
    Changed(entry);
  }
  return entry.item;
}

std::vector<AuctionItem> Catalogue::List(const std::string& category, size_t count_max) const {
  std::vector<AuctionItem> items;
  const auto found = categories_.find(category);
  if (found == categories_.end()) return items;
  for (const uint64_t id : found->second) {
    if (items.size() >= std::min(count_max, kListedCountMax)) break;
    items.push_back(entries_.at(id).item);
  }
  return items;
}

Catalogue::ChangedItems Catalogue::ChangesAfter(uint64_t version, size_t count_max) const {
  ChangedItems changed{.items = {}, .up_to = version, .complete = true};
  for (auto it = changes_.upper_bound(version); it != changes_.end(); ++it) {
    if (changed.items.size() >= count_max) {
      changed.complete = false;
      break;
    }
    changed.items.push_back(entries_.at(it->second).item);
    changed.up_to = it->first;
  }
  return changed;
}

void Catalogue::Changed(Entry& entry) {
  changes_.erase(entry.version);
  entry.version = ++version_;
  changes_[entry.version] = entry.item.id();
}

}  // namespace neptune::examples
