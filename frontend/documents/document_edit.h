// Parses and checks users' requests to add, replace or remove documents.
//
//   one document   {"url": "http://...", "title": "...", "text": "...", "site": "...",
//                   "static_rank": 0.5, "id": "17"}
//                  or with "html": "<!doctype html>..." instead of "text"
//   bulk           lines of such objects, or of {"delete": "17"} or {"delete_url": "http://..."}
//
// Source: NDJSON for the bulk form.
// No I/O, no clock.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT names the member: not JSON, not an object, wrong type, unknown, missing,
//   or over a limit of index/updates/document_change.h. Bulk body: RESOURCE_EXHAUSTED more than
//   kEditsMax lines; an error in one line does not affect the others.
// Limits: kEditSizeMax bytes, 8 levels and 100 names and values a document, kBulkSizeMax a body,
//   kEditsMax lines.

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

// Larger than the content limits because JSON may encode one byte in six.
inline constexpr size_t kEditSizeMax = size_t{4} << 20;
inline constexpr size_t kBulkSizeMax = size_t{16} << 20;
inline constexpr size_t kEditsMax = 1000;
// Bytes of a page as HTML.
inline constexpr size_t kEditHtmlSizeMax = size_t{2} << 20;

struct DocumentEdit {
  // The given id, else the id that a new document with the url would get.
  uint64_t doc_id = 0;
  // Set if the request identifies the document only by url: it means the stored document with this
  // url, if there is one (DocumentWriter).
  std::optional<std::string> url = std::nullopt;
  // Absent: the document is removed.
  std::optional<index::DocumentContent> content;
  // HTML page from which the content's text, and its title if it has none, are still to be
  // extracted (html_content.h).
  std::optional<std::string> html = std::nullopt;
};

// Parses one JSON object. The member `id` is a string or a whole number; `site` defaults to the
// host of the url.
neptune::StatusOr<DocumentEdit> ParseDocument(std::string_view json);

// Makes the removal of the document with this url. Errors: INVALID_ARGUMENT empty or too long url.
neptune::StatusOr<DocumentEdit> RemovalOfUrl(std::string_view url);

// Parses a document id: decimal, without a sign. Error messages contain `name`.
neptune::StatusOr<uint64_t> ParseDocumentId(std::string_view name, std::string_view text);

struct BulkLine {
  size_t number = 0;  // from 1
  neptune::StatusOr<DocumentEdit> edit;
};

// Parses every line that is not blank.
neptune::StatusOr<std::vector<BulkLine>> ParseBulk(std::string_view body);

}  // namespace search::frontend
