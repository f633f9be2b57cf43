// Any bytes as the stored records of a persistent cache: lookups and inserts say that they are
// damaged, or keep the limits of the cache; what was inserted is found.
//
// The input is a sequence: a byte for the record (0: the totals, then entries and their order), a
// byte for the size, the bytes.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/persistent/persistent_entries.h"
#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/world/sim/sim_storage.h"
#include "tools/bazel/fuzz/place.h"

namespace search::cache {
namespace {

using neptune::StatusCode;

constexpr PersistentLimits kLimits = {.size_max = 2000, .value_size_max = 500};
constexpr int64_t kNow = 1'000'000;

neptune::FuzzPlace found_entry("an entry is found");
neptune::FuzzPlace inserted_entry("an entry is inserted");
neptune::FuzzPlace evicted_entry("an entry is evicted");
neptune::FuzzPlace found_damage("damage is found");

std::string QueryOf(uint8_t number) { return std::string(1, static_cast<char>('a' + number % 8)); }

std::string NumberKey(char kind, uint64_t number) {
  std::string key(1, kind);
  neptune::ByteWriter(&key).Number(number);
  return key;
}

// Keys of the service stand behind a prefix of the store's.
void Put(neptune::KeyValueStore& store, const std::string& key, std::string_view value) {
  CHECK(store.Put("u" + key, value, neptune::WriteMode::kBuffered).ok());
}

void PutRecord(neptune::KeyValueStore& store, uint8_t which, std::string_view bytes) {
  const std::string entry = NumberKey('e', neptune::Checksum64(QueryOf(which / 4)));
  switch (which % 4) {
    case 0:
      return Put(store, "t", bytes);
    case 1:
      return Put(store, entry, bytes);
    case 2:
      return Put(store, NumberKey('o', which), entry);
    default:
      return Put(store, NumberKey('o', which), bytes);
  }
}

void CheckDamage(const neptune::Status& status) {
  if (status.ok()) return;
  CHECK(status.code() == StatusCode::kDataLoss) << status;
  found_damage.Reach();
}

void CheckStore(neptune::KeyValueStore& store) {
  const neptune::StoreView view(store);
  for (uint8_t number = 0; number < 8; ++number) {
    const auto found = FindEntry(view, {QueryOf(number), 7}, kNow);
    CheckDamage(found.status());
    if (!found.ok() || found->outcome != PersistentFind::kFound) continue;
    CHECK_EQ(found->entry.query(), QueryOf(number));
    found_entry.Reach();
  }
  PersistentEntry entry;
  entry.set_query("b");
  entry.set_index_version(7);
  entry.set_value(std::string(400, 'v'));
  entry.set_inserted_ns(kNow);
  neptune::WriteBatch batch;
  neptune::StoreChanges changes(batch);
  const auto outcome = InsertEntry(view, kLimits, entry, changes);
  CheckDamage(outcome.status());
  if (!outcome.ok()) return;
  CHECK(outcome->stored);
  inserted_entry.Reach();
  if (outcome->evicted_count > 0) evicted_entry.Reach();
  CHECK(store.Write(batch, neptune::WriteMode::kBuffered).ok());
  const auto found = FindEntry(view, {"b", 7}, kNow);
  CHECK(found.ok() && found->outcome == PersistentFind::kFound);
}

}  // namespace
}  // namespace search::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  neptune::SimStorage storage;
  const auto store = *storage.Open("data");
  neptune::ByteReader in({reinterpret_cast<const char*>(data), size});
  while (in.remaining() > 0) {
    const uint8_t which = in.Number<uint8_t>();
    search::cache::PutRecord(*store, which, in.Counted<uint8_t>());
  }
  search::cache::CheckStore(*store);
  return 0;
}
