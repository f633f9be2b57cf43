// The frontend's routes for changes of documents:
//
//   POST /documents        one JSON document, or with Content-Type application/x-ndjson a bulk
//                          request (document_edit.h)
//   DELETE /documents/ID   or /documents?url=URL
//
// With the header Idempotency-Key, chosen by the client, a repeated request is the same change: it
// does not overwrite changes made since the first request. The key is bound to the contents of the
// request; 409 for other contents. It is remembered for index::kRequestKeysKept.
//
//   body ─┬ small ─► parsed in place ─┬─ no HTML ──────────────────────────────► DocumentWriter
//         └ large ─┐                  └─ HTML ─┐                                      ▲
//                  └──────► HtmlThreads ◄──────┘ parsed there, off the serving loop ──┘
//
// Who may change documents is decided before (http/access_rules.h).
//
// Source: RFC 9457 (problems); the draft for the header Idempotency-Key of the IETF's working group
//   on HTTP APIs.
// Threads: thread-safe; on user-level threads of the node.
// Errors: sent as HTTP answers: 400 names the invalid part; 413 and 415 by the HTTP layer and here;
//   503 and 504: the change may still have been applied and should be sent again. A bulk answer is
//   200 and has a status for each line.

#pragma once

#include <cstdint>
#include <vector>

#include "frontend/documents/document_writer.h"
#include "frontend/documents/html_threads.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

inline constexpr char kDocumentsPath[] = "/documents";
inline constexpr char kDocumentsPrefix[] = "/documents/";
inline constexpr char kIdempotencyKeyHeader[] = "Idempotency-Key";
inline constexpr size_t kIdempotencyKeySizeMax = 255;
// Larger bodies are parsed on threads of their own. Larger: fewer changes of threads for small
// documents; the serving loop stands still for longer. Default: about 0.1 ms of parsing.
inline constexpr size_t kParsedInPlaceSizeMax = size_t{16} << 10;

// What a request changed, for the audit log.
struct ChangedDocuments {
  std::vector<uint64_t> written;  // numbers, added or replaced or removed
  size_t failed_count = 0;        // the change may have been applied nevertheless
};

class DocumentRoutes {
 public:
  // `timeout` limits each change.
  DocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads, neptune::Duration timeout)
      : writer_(writer), html_threads_(html_threads), timeout_(timeout) {}

  // Each adds what it changed to *changed.
  neptune::HttpResponse Post(const neptune::HttpRequest& request, ChangedDocuments* changed) const;
  neptune::HttpResponse Delete(const neptune::HttpRequest& request,
                               ChangedDocuments* changed) const;
  neptune::HttpResponse DeleteUrl(const neptune::HttpRequest& request,
                                  ChangedDocuments* changed) const;

 private:
  // The edits of a body. A body of one document is one line; its error is that of the line.
  struct BodyRead {
    neptune::Status status;  // of reading; not OK: there are no lines
    neptune::StatusOr<std::vector<BulkLine>> lines;
  };

  neptune::HttpResponse WriteOne(DocumentEdit edit, const neptune::HttpRequest& request,
                                 ChangedDocuments* changed) const;
  neptune::HttpResponse PostOne(const neptune::HttpRequest& request,
                                ChangedDocuments* changed) const;
  neptune::HttpResponse PostBulk(const neptune::HttpRequest& request,
                                 ChangedDocuments* changed) const;
  // Parses the body, and extracts the contents of documents that came as HTML.
  BodyRead Read(const neptune::HttpRequest& request, bool is_bulk,
                neptune::TimePoint deadline) const;

  DocumentWriter& writer_;
  HtmlThreads& html_threads_;
  const neptune::Duration timeout_;
};

}  // namespace search::frontend
