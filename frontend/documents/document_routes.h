// The frontend's routes for documents that change:
//
//   POST /documents        one JSON document; with Content-Type application/x-ndjson lines of them (document_edit.h)
//   DELETE /documents/ID   or /documents?url=URL
//
// With the header Idempotency-Key, a text of the client's own, a request that is sent again is the same change: it takes
// nothing back that came after the first one. The key names the request with its contents; 409 for other contents. It is
// remembered for index::kRequestKeysKept.
//
// Source: RFC 9457 (problems); the draft for the header Idempotency-Key of the IETF's working group on HTTP APIs.
// Threads: thread-safe; on user-level threads of the node.
// Errors: as answers: 400 names what is wrong, 413 and 415 by the HTTP layer and here, 503 and 504 the change may be made
//   all the same and is to be sent again. A bulk answer is 200 and says for each line what became of it.

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
  // A change may take so long.
  DocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads, neptune::Duration timeout)
      : writer_(writer), html_threads_(html_threads), timeout_(timeout) {}

  neptune::HttpResponse Post(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Delete(const neptune::HttpRequest& request) const;
  neptune::HttpResponse DeleteUrl(const neptune::HttpRequest& request) const;

 private:
  neptune::HttpResponse WriteOne(DocumentEdit edit, const neptune::HttpRequest& request) const;
  neptune::HttpResponse WriteBulk(const neptune::HttpRequest& request) const;

  // Edits that came as HTML get their contents. One status an edit; where it fails as a whole, the same for all.
  std::vector<neptune::Status> ReadHtml(std::vector<DocumentEdit>* edits,
                                        neptune::TimePoint deadline) const;

  DocumentWriter& writer_;
  HtmlThreads& html_threads_;
  const neptune::Duration timeout_;
};

}  // namespace search::frontend
