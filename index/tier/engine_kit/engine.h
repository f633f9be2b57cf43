// What a foreign engine has to bring to be an index tier: a store of one partition, and searches of it.
//
// The kit does the rest (engine_variant.h): documents come inverted, statistics of the collection are added up and kept
// among the store's values, answers, their second phase, threads and deadlines are the tier's.
//
// Threads: thread-compatible; the kit uses an object from one thread at a time, and many objects over one folder.
// Units: ordinals number a partition's documents from 0 in the order in which they were written.
// Errors: as index_tier.h and tier_builder.h say. An engine whose library throws may let it; see EngineDriver::guard.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/query/query.h"
#include "index/tier/engine_kit/query_score.h"
#include "index/tier/engine_kit/term_vector_builder.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index {

class EngineSearcher;

enum class EngineMode {
  kCreate,  // in place of what was there: Write, Put, Close
  kUpdate,  // all but Write
  kRead,    // Get, ForEachTerm; writes nothing into the folder
};

class EngineStore {
 public:
  virtual ~EngineStore() = default;

  // Adds the next document: document.terms() with their positions by field. Its record is kept by the kit.
  virtual neptune::Status Write(const TermVectorBuilder& document) = 0;

  // Values under keys of at most kEngineKeySizeMax bytes of any kind; Get gives the empty string for none.
  virtual neptune::Status Put(const std::string& key, std::string_view value) = 0;
  virtual neptune::StatusOr<std::string> Get(const std::string& key) const = 0;

  // Calls visit(term, count) for every term, with the number of documents that have it, or more often with parts of
  // that number, until it is not OK. `visit` may call Put.
  using VisitTerm = std::function<neptune::Status(std::string_view term, uint32_t count)>;
  virtual neptune::Status ForEachTerm(const VisitTerm& visit) const = 0;

  // Makes durable what was written. Called whenever what was written since may hold memory_size_max, unless the store
  // sees to that itself.
  virtual neptune::Status Flush() = 0;

  // Makes all durable. The last call. REQUIRES: not kRead.
  virtual neptune::Status Close() { return Flush(); }

  // What searches the store; null where searches go another way than OpenEngineTier's (engine_variant.h).
  virtual EngineSearcher* searcher() { return nullptr; }
};
inline constexpr size_t kEngineKeySizeMax = 72;

// What is to be found. All it refers to outlives the call.
struct EngineQuestion {
  const Query& query;
  const QueryScore& score;
  uint32_t match_count_max;           // so many of the best are wanted
  bool count_exactly;                 // Found::total_min and total_max shall be the same
  const std::function<bool()>& stop;  // to be asked now and then; may be empty
};

struct Match {
  ScoreUnits units = 0;
  uint32_t ordinal = 0;
};

struct Found {
  std::vector<Match>
      matches;  // in any order: the best match_count_max, equal scores by ordinal, or more
  uint64_t total_min = 0;  // at least so many documents match,
  uint64_t total_max = 0;  // and no more
  bool is_complete =
      true;  // not stopped; otherwise `matches` is all there is, and the totals are not looked at
};

class EngineSearcher {
 public:
  virtual ~EngineSearcher() = default;

  // Documents of the collection that have the term, ReadFrequency (engine_tables.h) of an EngineStore; any number if
  // none of the partition has it.
  virtual neptune::StatusOr<uint64_t> DocumentFrequency(const std::string& term) = 0;

  virtual neptune::StatusOr<Found> Find(const EngineQuestion& question) = 0;

  // Appends where the term stands in the document, ascending. Ordinals that it is asked for after a Find ascend.
  virtual neptune::Status ReadPositions(const std::string& term, Field field, uint32_t ordinal,
                                        std::vector<uint32_t>* positions) = 0;
};

// A store that is itself searched, from end to end, where it was opened kRead.
class Engine : public EngineStore, public EngineSearcher {
 public:
  EngineSearcher* searcher() final { return this; }
  neptune::StatusOr<uint64_t> DocumentFrequency(const std::string& term) final;
};

// EngineDriver::open of an engine that has a constructor for it.
template <typename Opened>
neptune::StatusOr<std::unique_ptr<EngineStore>> OpenEngine(const TierBuilderOptions& options,
                                                           EngineMode mode) {
  return std::make_unique<Opened>(options, mode);
}

// An engine as the kit is told of it.
struct EngineDriver {
  std::string_view name;  // of the tier
  neptune::StatusOr<std::unique_ptr<EngineStore>> (*open)(const TierBuilderOptions& options,
                                                          EngineMode mode);
  // Runs `work` and gives its status, or what the engine's library throws as one: all calls of the engine are within.
  // Null: nothing is thrown.
  neptune::Status (*guard)(const std::string& directory,
                           const std::function<neptune::Status()>& work) = nullptr;

  neptune::Status Guarded(const std::string& directory,
                          const std::function<neptune::Status()>& work) const {
    return guard == nullptr ? work() : guard(directory, work);
  }
};

}  // namespace search::index
