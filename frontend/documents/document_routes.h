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
// Source: RFC 9457 (problems); the draft for the header Idempotency-Key of the IETF's working group
//   on HTTP APIs.
// Threads: thread-safe; on user-level threads of the node.
// Errors: sent as HTTP answers: 400 names the invalid part; 413 and 415 by the HTTP layer and here;
//   503 and 504: the change may still have been applied and should be sent again. A bulk answer is
//   200 and has a status for each line.

#pragma once

#include <vector>

#include "frontend/documents/document_writer.h"
#include "frontend/documents/html_threads.h"
#include "neptune/wire/http/http_message.h"

namespace search::frontend {

inline constexpr char kDocumentsPath[] = "/documents";
inline constexpr char kDocumentsPrefix[] = "/documents/";
inline constexpr char kIdempotencyKeyHeader[] = "Idempotency-Key";
inline constexpr size_t kIdempotencyKeySizeMax = 255;

class DocumentRoutes {
 public:
  // `timeout` limits each change.
  DocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads, neptune::Duration timeout)
      : writer_(writer), html_threads_(html_threads), timeout_(timeout) {}

  neptune::HttpResponse Post(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Delete(const neptune::HttpRequest& request) const;
  neptune::HttpResponse DeleteUrl(const neptune::HttpRequest& request) const;

 private:
  neptune::HttpResponse WriteOne(DocumentEdit edit, const neptune::HttpRequest& request) const;
  neptune::HttpResponse WriteBulk(const neptune::HttpRequest& request) const;

  // Extracts the contents of edits that came as HTML. Returns one status per edit; an error of the
  // whole step is returned for every edit.
  std::vector<neptune::Status> ReadHtml(std::vector<DocumentEdit>* edits,
                                        neptune::TimePoint deadline) const;

  DocumentWriter& writer_;
  HtmlThreads& html_threads_;
  const neptune::Duration timeout_;
};

}  // namespace search::frontend
