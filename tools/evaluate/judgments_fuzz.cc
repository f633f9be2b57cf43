// Any bytes are valid queries, judgments and runs, or refused with a reason; the measures of
// accepted ones are within [0, 1]. What follows the first empty line is read as a run, what
// precedes it as the others.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/evaluate/evaluation.h"
#include "tools/evaluate/judged_queries.h"
#include "tools/evaluate/run_file.h"
#include "tools/streams/memory_source.h"

namespace {

void Require(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace search::tools;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t gap = all.find("\n\n");
  const std::string_view head = all.substr(0, gap);
  const std::string_view tail = gap == std::string_view::npos ? "" : all.substr(gap);
  MemorySource queries{std::string(head)};
  const auto read_queries = ReadQueries(&queries, "queries");
  for (size_t i = 0; read_queries.ok() && i < read_queries->size(); ++i) {
    Require(!(*read_queries)[i].id.empty());
  }
  MemorySource judged{std::string(head)};
  MemorySource ranked{std::string(tail)};
  const auto judgments = ReadJudgments(&judged, "judgments");
  const auto run = ReadRun(&ranked, "run");
  if (!judgments.ok() || !run.ok()) return 0;
  const Evaluation evaluation = Evaluate(*run, *judgments, 1);
  for (const Estimate& estimate : evaluation.measures) {
    Require(estimate.mean >= 0 && estimate.mean <= 1 + 1e-9);
    Require(estimate.low >= 0 && estimate.high <= 1 + 1e-9);
  }
  return 0;
}
