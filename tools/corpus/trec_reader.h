// Reads TREC's collections: any number of documents per file, each between <DOC> and </DOC> and
// named by <DOCNO>.
//
// The title is the content of the first of TITLE, TTL, HEADLINE, HL or HEAD. The text is the
// content of all TEXT elements, or of the whole document if it has none, with tags removed and
// characters decoded. DOCHDR, SCRIPT and STYLE are skipped. An unclosed document ends at the next
// <DOC> or at the end of the file; an unclosed field ends at the next tag of a field or of the
// document.
//
// Source: the markup of TREC's collections as their readme files describe it.
// Threads: thread-compatible. Errors: as dump_reader.h says; a document without a DOCNO is bad
//   (ConvertedPage::status), and reading continues after it.
// Limits: kTrecDocumentSizeMax bytes a document, the rest is dropped; text that is not UTF-8 is
//   read as windows-1252.

#pragma once

#include <memory>

#include "tools/corpus/dump_reader.h"

namespace search::tools {

inline constexpr size_t kTrecDocumentSizeMax = size_t{16} << 20;

std::unique_ptr<DumpReader> MakeTrecReader(ByteSource* source, const DumpOptions& options);

}  // namespace search::tools
