// The items of one replica, with a history of changes.
//
// Any two catalogues with the same items and bids are equal, in whatever order and however often
// these were added: an item is added once under its id, and its highest bid counts; among equal
// bids the bidder who is first in alphabetical order wins. Replicas therefore need no order of
// writes.
//
// Source: [Shen02] 5.2.1 (consistency level 1, commutative writes), 5.3 (auction).
// No I/O, no clock.
// Threads: thread-compatible.
// Errors: kInvalidArgument an item or bid exceeds a limit; kNotFound no such item;
//   kResourceExhausted kItemCountMax items.
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

// Errors: kInvalidArgument the catalogue would refuse the argument.
Status ValidateItem(const AuctionItem& item);
Status ValidateBid(const AuctionBid& bid);
// Returns true if `bid` beats `other`: a strict order over all bids.
bool Leads(const AuctionBid& bid, const AuctionBid& other);

class Catalogue {
 public:
  // Adds the item, or only its bid if the item exists and the bid leads.
  Status Merge(const AuctionItem& item);
  StatusOr<AuctionItem> Find(uint64_t id) const;
  // Returns the item after the bid; the bid leads if it is the item's highest now.
  StatusOr<AuctionItem> PlaceBid(uint64_t id, const AuctionBid& bid);
  // Returns items of one category, ordered by id, at most kListedCountMax.
  std::vector<AuctionItem> List(const std::string& category, size_t count_max) const;

  struct ChangedItems {
    std::vector<AuctionItem> items;  // each once, in its current state
    uint64_t up_to = 0;              // version that these changes lead to
    bool complete = true;            // there are no later changes
  };
  // Returns the items changed after that version, oldest changes first, at most `count_max`.
  ChangedItems ChangesAfter(uint64_t version, size_t count_max) const;

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    AuctionItem item;
    uint64_t version = 0;  // version of its last change
  };
  void Changed(Entry& entry);

  std::unordered_map<uint64_t, Entry> entries_;
  std::map<std::string, std::set<uint64_t>> categories_;
  std::map<uint64_t, uint64_t> changes_;  // version to item; one for each item
  uint64_t version_ = 0;
};

}  // namespace neptune::examples
