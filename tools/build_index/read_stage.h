// First stage: reads all input once, numbers the documents and distributes them over the
// partitions.
//
// Threads: runs on the calling thread.
// Errors: those of the input and of the build folder; INVALID_ARGUMENT no document at all, or a bad
//   line if the options say so; RESOURCE_EXHAUSTED more than kDocumentsMax documents.
// Limits: about 60 bytes of memory per document, 2 MiB per partition.
//
// Numbers count from 0 in the order of the input; a url that occurred before is skipped, and so is
// a bad line. Writes, in the build folder:
//
//   shard-P     documents of partition P, ascending (spool.h)
//   links       number of the page, hash of the url it leads to, words of the link
//   urls        hash of each document's url (16 bytes each)
//   qualities   the order for tier 1 among equal ranks (4 bytes each)

#pragma once

#include "neptune/base/status.h"
#include "tools/build_index/build_journal.h"
#include "tools/build_index/build_options.h"

namespace search::tools {

// Facts: documents, links, bad_lines, duplicates, contents (a hash of everything that was
// accepted).
neptune::StatusOr<BuildJournal::Facts> RunReadStage(const BuildOptions& options,
                                                    const BuildJournal& journal);

// Link-independent quality of a document, in [0, 1]: up to 0.8 for length of text, reached at 20
// KB, plus 0.2 for a title of at most 80 bytes.
float DocumentQuality(std::string_view title, std::string_view text);

std::string ShardName(uint32_t partition);
inline constexpr char kLinksName[] = "links";
inline constexpr char kUrlsName[] = "urls";
inline constexpr char kQualitiesName[] = "qualities";

}  // namespace search::tools
