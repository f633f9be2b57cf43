// Reads Wikipedia's XML dumps (pages-articles), as a stream: pages with title, text, links,
// redirects.
//
// Source: the MediaWiki export format, versions 0.10 and 0.11.
// Threads: thread-compatible. Errors: as dump_reader.h says; also DATA_LOSS for a document type
//   declaration, which no dump has.
// Limits: kWikitextSizeMax bytes of a page's wikitext, the rest is dropped; a tag of kTagSizeMax
//   bytes; elements kDepthMax deep.

#pragma once

#include <memory>

#include "tools/corpus/dump_reader.h"

namespace search::tools {

inline constexpr size_t kWikitextSizeMax = size_t{16} << 20;
inline constexpr size_t kTagSizeMax = size_t{1} << 20;
inline constexpr size_t kDepthMax = 32;

std::unique_ptr<DumpReader> MakeWikiDumpReader(ByteSource* source, const DumpOptions& options);

}  // namespace search::tools
