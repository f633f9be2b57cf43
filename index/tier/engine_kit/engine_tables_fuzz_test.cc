// Any bytes as the records that an engine's store keeps for the kit: refused, or documents that
// ascend, with static ranks from 0 to 1.
//
// The input is a sequence: a byte for the record, a byte for the size, the bytes.

#include <glog/logging.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "index/tier/engine_kit/engine_tables.h"
#include "neptune/base/byte_order.h"
#include "tools/bazel/fuzz/place.h"

namespace search::index {
namespace {

neptune::FuzzPlace read_documents("documents are read");
neptune::FuzzPlace read_collection("the collection is read");
neptune::FuzzPlace read_frequency("a frequency is read");
neptune::FuzzPlace found_damage("damage is found");

class MapStore final : public EngineStore {
 public:
  neptune::Status Write(const TermVectorBuilder&) override { return neptune::OkStatus(); }
  neptune::Status Put(const std::string& key, std::string_view value) override {
    values_[key] = value;
    return neptune::OkStatus();
  }
  neptune::StatusOr<std::string> Get(const std::string& key) const override {
    const auto found = values_.find(key);
    return found == values_.end() ? std::string() : found->second;
  }
  neptune::Status ForEachTerm(const VisitTerm&) const override { return neptune::OkStatus(); }
  neptune::Status Flush() override { return neptune::OkStatus(); }

 private:
  std::map<std::string, std::string> values_;
};

void PutRecord(MapStore& store, uint8_t which, std::string_view bytes) {
  std::string key = "d";
  switch (which % 4) {
    case 0:
      key = "p";
      break;
    case 1:
      key = "c";
      break;
    case 2:
      key = FrequencyKey("term");
      break;
    default:
      neptune::ByteWriter(&key).Number(uint32_t{which / 4u} * kDocumentsPerValue);
  }
  CHECK(store.Put(key, bytes).ok());
}

void NoteDamage(const neptune::Status& status) {
  if (status.code() == neptune::StatusCode::kDataLoss) found_damage.Reach();
}

void CheckStore(const MapStore& store) {
  const auto documents = ReadDocuments(store, "folder");
  NoteDamage(documents.status());
  for (size_t i = 0; documents.ok() && i < documents->size(); ++i) {
    read_documents.Reach();
    const DocumentRecord& document = (*documents)[i];
    CHECK(document.static_rank >= 0 && document.static_rank <= 1);
    CHECK(i == 0 || document.doc_id > (*documents)[i - 1].doc_id);
  }
  const auto collection = ReadCollection(store, "folder");
  NoteDamage(collection.status());
  if (collection.ok()) {
    read_collection.Reach();
    (void)RankingOf(*collection);
  }
  const auto frequency = ReadFrequency(store, "term");
  NoteDamage(frequency.status());
  if (frequency.ok() && *frequency > 0) read_frequency.Reach();
}

}  // namespace
}  // namespace search::index

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  search::index::MapStore store;
  neptune::ByteReader in({reinterpret_cast<const char*>(data), size});
  while (in.remaining() > 0) {
    const uint8_t which = in.Number<uint8_t>();
    search::index::PutRecord(store, which, in.Counted<uint8_t>());
  }
  search::index::CheckStore(store);
  return 0;
}
