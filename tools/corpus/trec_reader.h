// Reads TREC's collections: any number of documents per file, each between <DOC> and </DOC> and
// named by <DOCNO>.
//
// The title is the content of the first of TITLE, TTL, HEADLINE, HL or HEAD; the text is what TEXT
// elements contain, or everything if there are none, without tags and with characters decoded.
// DOCHDR, SCRIPT and STYLE are left out. A <DOC> or the end of the file ends a document that is not
// closed, a tag of another field or of the document one that is not.
//
// Source: the markup of TREC's collections as their readme files describe it.
// Threads: thread-compatible. Errors: those of dump_reader.h; a document without a DOCNO is bad
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
