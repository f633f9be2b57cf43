// What users send to have documents added, replaced or removed, read and checked.
//
//   one document   {"url": "http://...", "title": "...", "text": "...", "site": "...", "static_rank": 0.5, "id": "17"}
//                  or with "html": "<!doctype html>..." in place of "text"
//   bulk           lines of such objects, or of {"delete": "17"} or {"delete_url": "http://..."}
//
// Source: NDJSON for the bulk form.
// No I/O, no clock.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT that names the member: not JSON, not an object, of another type, unknown, missing, or over a
//   limit of index/updates/document_change.h. A bulk body: RESOURCE_EXHAUSTED over kEditsMax lines; an error of a line is
//   that line's alone.
// Limits: kEditSizeMax bytes a document, kBulkSizeMax a body, kEditsMax lines.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/updates/document_change.pb.h"
#include "neptune/base/status.h"

namespace search::frontend {

// JSON may write a byte as six.
inline constexpr size_t kEditSizeMax = size_t{4} << 20;
inline constexpr size_t kBulkSizeMax = size_t{16} << 20;
inline constexpr size_t kEditsMax = 1000;
// Bytes of a page as HTML.
inline constexpr size_t kEditHtmlSizeMax = size_t{2} << 20;

struct DocumentEdit {
  // As given; else that of a new document with the url.
  uint64_t doc_id = 0;
  // The document is named by this alone: one that has it already is meant (DocumentWriter).
  std::optional<std::string> url = std::nullopt;
  // Absent: the document is removed.
  std::optional<index::DocumentContent> content;
  // The content's text, and its title if it has none, are still to be read from this page (html_content.h).
  std::optional<std::string> html = std::nullopt;
};

// The document of one JSON object. Its number is the string or whole number `id`; its site, if not given, the host of its
// url.
neptune::StatusOr<DocumentEdit> ParseDocument(std::string_view json);

// The removal of the document with this url. Errors: INVALID_ARGUMENT no url, or one that is too long.
neptune::StatusOr<DocumentEdit> RemovalOfUrl(std::string_view url);

// A number as ids are written: decimal, without a sign. `name` stands in the message.
neptune::StatusOr<uint64_t> ParseDocumentId(std::string_view name, std::string_view text);

struct BulkLine {
  size_t number = 0;  // from 1
  neptune::StatusOr<DocumentEdit> edit;
};

// Every line that is not blank.
neptune::StatusOr<std::vector<BulkLine>> ParseBulk(std::string_view body);

}  // namespace search::frontend
