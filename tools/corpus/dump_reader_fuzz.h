// Invariants of every dump reader on any input, for fuzz tests: documents are valid and within
// limits, and do not depend on how the bytes are cut into pieces.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "index/html/utf8.h"
#include "tools/corpus/dump_reader.h"
#include "tools/corpus/json_lines.h"
#include "tools/streams/memory_source.h"

namespace search::tools {

inline bool IsWithinLimits(const CorpusDocument& document) {
  return document.text.size() <= CorpusLimits::kTextSizeMax &&
         document.title.size() <= CorpusLimits::kTitleSizeMax && !document.url.empty() &&
         document.url.size() <= CorpusLimits::kUrlSizeMax &&
         document.links.size() <= CorpusLimits::kLinksMax && html::IsValidUtf8(document.text) &&
         html::IsValidUtf8(document.title);
}

template <typename MakeReader>
std::string ReadAllInPieces(const std::string& bytes, size_t piece_size, MakeReader make_reader) {
  MemorySource source(bytes, piece_size);
  const auto reader = make_reader(&source);
  std::string lines;
  while (true) {
    ConvertedPage page;
    const auto more = reader->Next(true, &page);
    if (!more.ok() || !*more) return lines;
    if (!page.status.ok() || page.is_redirect || page.is_other) continue;
    if (!IsWithinLimits(page.document)) abort();
    AppendJsonLine(page.document, &lines);
  }
}

template <typename MakeReader>
void CheckDumpReader(const uint8_t* data, size_t size, MakeReader make_reader) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (ReadAllInPieces(bytes, 4096, make_reader) != ReadAllInPieces(bytes, 7, make_reader)) abort();
}

}  // namespace search::tools
