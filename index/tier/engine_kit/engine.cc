#include "index/tier/engine_kit/engine.h"

#include "index/tier/engine_kit/engine_tables.h"

namespace search::index {

neptune::StatusOr<uint64_t> Engine::DocumentFrequency(const std::string& term) {
  return ReadFrequency(*this, term);
}

}  // namespace search::index
