// The items of one replica, and what changed in them since when.
//
// Any two catalogues that have taken in the same items and bids, in whatever order and however often, are equal: an
// item is added once under its id, and of its bids the highest counts, of equal ones the bidder who comes first in the
// alphabet. So replicas need no order of writes.
//
// Source: [Shen02] 5.2.1 (consistency level 1, commutative writes), 5.3 (auction).
// No I/O, no clock.
// Threads: thread-compatible.
// Errors: kInvalidArgument an item or bid over its limits; kNotFound no such item; kResourceExhausted kItemCountMax.
// Limits: the constants below.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/examples/auction/auction.pb.h"

namespace neptune::examples {

inline constexpr size_t kItemCountMax = 1'000'000;
inline constexpr size_t kAuctionTextSizeMax = 200;  // bytes of a title, category or bidder's name
inline constexpr size_t kListedCountMax = 100;

// Errors: kInvalidArgument what the catalogue would refuse.
Status ValidateItem(const AuctionItem& item);
Status ValidateBid(const AuctionBid& bid);
// Whether `bid` takes the lead over `other`: a strict order over all bids.
bool Leads(const AuctionBid& bid, const AuctionBid& other);

class Catalogue {
 public:
  // Adds the item, or takes over its bid if the item is there and the bid leads.
  Status Merge(const AuctionItem& item);
  StatusOr<AuctionItem> Find(uint64_t id) const;
  // The item as it is afterwards; the bid leads if it is the item's now.
  StatusOr<AuctionItem> PlaceBid(uint64_t id, const AuctionBid& bid);
  // Of one category, by id, at most kListedCountMax.
  std::vector<AuctionItem> List(const std::string& category, size_t count_max) const;

  struct ChangedItems {
    std::vector<AuctionItem> items;  // each once, as it is now
    uint64_t up_to = 0;              // the version that they lead to
    bool complete = true;            // nothing has changed after it
  };
  // Items changed after that version, the oldest changes first, at most `count_max`.
  ChangedItems ChangesAfter(uint64_t version, size_t count_max) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    AuctionItem item;
    uint64_t version = 0;  // of its last change
  };
  void Changed(Entry& entry);

  std::unordered_map<uint64_t, Entry> entries_;
  std::map<std::string, std::set<uint64_t>> categories_;
  std::map<uint64_t, uint64_t> changes_;  // version to item; one for each item
  uint64_t version_ = 0;
};

}  // namespace neptune::examples
