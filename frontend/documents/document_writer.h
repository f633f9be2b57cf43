// Interface that applies changes of documents for the frontend's routes; the implementation calls
// the replicated services.
//
// Threads: thread-safe; Write on user-level threads of the node.
// Errors: one status per edit. OK: every partition concerned has acknowledged the edit, and
//   searches find it within two seconds. FAILED_PRECONDITION: the request name belongs to another
//   request. ALREADY_EXISTS: the edit is by a new url, whose number another document has.
//   UNAVAILABLE and DEADLINE_EXCEEDED: the edit may have been applied or may still be; send it
//   again.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
    // Number of the document. For an edit by url: that of the stored document with this url, if
    // there is one, else the edit's.
    uint64_t doc_id = 0;
  };

  // Identifies a request, so that a repeated request is the same change and not a newer one.
  struct RequestName {
    std::string key;        // index::kRequestKeySize bytes
    uint64_t contents = 0;  // hash of the requested change
  };
  struct Order {
    std::vector<DocumentEdit> edits;
    std::optional<RequestName> name;
    neptune::TimePoint deadline;
  };

  // Returns one result per edit, in order. The last edit of a document overrides earlier ones.
  virtual std::vector<Written> Write(const Order& order) = 0;
};

}  // namespace search::frontend
