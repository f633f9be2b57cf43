// Has changes of documents made: what the routes of the frontend call.
//
// Source: design, live updates. Layer: frontend/documents. Interface; an implementation calls the replicated services.
// Threads: thread-safe; Write on user-level threads of the node.
// Errors: of each edit its own: OK it is acknowledged by every partition that it concerns and will be found within two
//   seconds; UNAVAILABLE and DEADLINE_EXCEEDED it may be made, now or later, or by sending it again.

#pragma once

#include <vector>

#include "frontend/documents/document_edit.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::frontend {

class DocumentWriter {
 public:
  virtual ~DocumentWriter() = default;

  struct Written {
    neptune::Status status;
    // Of the document: of an edit that names a url, the number by which one has it already, or else the edit's.
    uint64_t doc_id = 0;
  };

  // One an edit, in order. The last edit of a document wins over those before it.
  virtual std::vector<Written> Write(const std::vector<DocumentEdit>& edits,
                                     neptune::TimePoint deadline) = 0;
};

}  // namespace search::frontend
