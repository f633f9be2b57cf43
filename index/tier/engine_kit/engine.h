// The interface that a foreign engine implements to become an index tier: a store of one partition,
// and its search.
//
// The kit does the rest (engine_variant.h): it inverts documents, adds up the collection's
// statistics and keeps them among the store's values, and provides answers, the second phase,
// threads and deadlines.
//
// Threads: thread-compatible; the kit uses an object from one thread at a time, but opens many
//   objects over one folder.
// Units: ordinals number a partition's documents from 0 in the order in which they were written.
// Errors: as in index_tier.h and tier_builder.h. The engine's library may throw; see
//   EngineDriver::guard.

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
  kCreate,  // replaces existing content: Write, Put, Close
  kUpdate,  // all but Write
  kRead,    // Get, ForEachTerm; writes nothing into the folder
};

class EngineStore {
 public:
  virtual ~EngineStore() = default;

  // Adds the next document: document.terms() with their positions by field. The kit stores its
  // record.
  virtual neptune::Status Write(const TermVectorBuilder& document) = 0;

  // Values under keys of at most kEngineKeySizeMax arbitrary bytes; Get returns the empty string
  // for a missing key.
  virtual neptune::Status Put(const std::string& key, std::string_view value) = 0;
  virtual neptune::StatusOr<std::string> Get(const std::string& key) const = 0;

  // Calls visit(term, count) for every term with its number of documents, or several times with
  // partial counts, until `visit` returns an error. `visit` may call Put.
  using VisitTerm = std::function<neptune::Status(std::string_view term, uint32_t count)>;
  virtual neptune::Status ForEachTerm(const VisitTerm& visit) const = 0;

  // Makes all writes durable. Called whenever the unflushed writes may hold memory_size_max of
  // memory, unless the store limits its memory itself.
  virtual neptune::Status Flush() = 0;

  // Makes all writes durable. The last call. REQUIRES: not kRead.
  virtual neptune::Status Close() { return Flush(); }

  // The searcher of the store; null if searches do not go through OpenEngineTier
  // (engine_variant.h).
  virtual EngineSearcher* searcher() { return nullptr; }
};
inline constexpr size_t kEngineKeySizeMax = 72;

// A search. All references must outlive the call.
struct EngineQuery {
  const Query& query;
  const QueryScore& score;
  uint32_t match_count_max;           // number of best matches wanted
  bool count_exactly;                 // Found::total_min and total_max must be equal
  const std::function<bool()>& stop;  // polled by the search; may be empty
};

struct Match {
  ScoreUnits units = 0;
  uint32_t ordinal = 0;
};

struct Found {
  // In any order: the best match_count_max, equal scores by ordinal, or more.
  std::vector<Match> matches;
  // Bounds of the number of matching documents.
  uint64_t total_min = 0;
  uint64_t total_max = 0;
  // False if the search was stopped: `matches` are then those found so far; totals are ignored.
  bool is_complete = true;
};

class EngineSearcher {
 public:
  virtual ~EngineSearcher() = default;

  // Number of documents of the collection that have the term, from ReadFrequency (engine_tables.h)
  // of an EngineStore; any number if no document of the partition has it.
  virtual neptune::StatusOr<uint64_t> DocumentFrequency(const std::string& term) = 0;

  virtual neptune::StatusOr<Found> Find(const EngineQuery& engine_query) = 0;

  // Appends the positions of the term in the document, ascending. Ordinals ascend from call to call
  // after a Find.
  virtual neptune::Status ReadPositions(const std::string& term, Field field, uint32_t ordinal,
                                        std::vector<uint32_t>* positions) = 0;
};

// A store that implements its own searcher, available if it was opened kRead.
class Engine : public EngineStore, public EngineSearcher {
 public:
  EngineSearcher* searcher() final { return this; }
  neptune::StatusOr<uint64_t> DocumentFrequency(const std::string& term) final;
};

// EngineDriver::open for an engine that has a matching constructor.
template <typename Opened>
neptune::StatusOr<std::unique_ptr<EngineStore>> OpenEngine(const TierBuilderOptions& options,
                                                           EngineMode mode) {
  return std::make_unique<Opened>(options, mode);
}

// Describes an engine to the kit.
struct EngineDriver {
  std::string_view name;  // name of the tier
  neptune::StatusOr<std::unique_ptr<EngineStore>> (*open)(const TierBuilderOptions& options,
                                                          EngineMode mode);
  // Runs `work` and returns its status, or converts an exception of the engine's library to one.
  // All calls of the engine are made within it. Null: the engine does not throw.
  neptune::Status (*guard)(const std::string& directory,
                           const std::function<neptune::Status()>& work) = nullptr;

  neptune::Status Guarded(const std::string& directory,
                          const std::function<neptune::Status()>& work) const {
    return guard == nullptr ? work() : guard(directory, work);
  }
};

}  // namespace search::index
