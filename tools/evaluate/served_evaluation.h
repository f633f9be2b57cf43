// Measures a served search on a judged collection, beside the engine in this process on the same
// documents, and prints both.
//
// The engine ranks with any word over one index; the served search does what its plan does. Their
// quotient is what the plan and the tiers cost.
// Threads: thread-compatible; blocks.
// Errors: those of the collection and of AskAll; those of the run files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "neptune/base/status.h"
#include "tools/evaluate/floors.h"
#include "tools/evaluate/judged_collection.h"
#include "tools/evaluate/served_search.h"
#include "tools/evaluate/setting.h"
#include "tools/evaluate/title_queries.h"
#include "tools/http/http_get.h"

namespace search::tools {

struct ServedEvaluationOptions {
  Setting setting;  // of the engine in this process
  ServedSearchOptions served;
  // per_site_count_max 0: no titles.
  TitleQueryOptions titles;
  // Queries whose ids begin with the same characters, this many, are also measured apart; 0: not.
  size_t kind_size = 0;
  // Folder of NAME.run and NAME.served.run, or NAME.plain.run; empty: none are written.
  std::string run_directory;
  uint64_t seed = 1;  // of the intervals
};

// Appends the measured values, named as README.md lists them.
neptune::Status EvaluateServed(const HttpOrigin& server, const ServedEvaluationOptions& options,
                               JudgedCollection* collection, MeasuredValues* values,
                               std::FILE* out);

}  // namespace search::tools
