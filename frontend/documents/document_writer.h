// Has changes of documents made: what the routes of the frontend call.
//
// Interface; an implementation calls the replicated services.
// Threads: thread-safe; Write on user-level threads of the node.
// Errors: of each edit its own: OK it is acknowledged by every partition that it concerns and will be found within two
//   seconds; FAILED_PRECONDITION the name is that of another request; UNAVAILABLE and DEADLINE_EXCEEDED it may be made, now or later, or by sending it again.

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
    // Of the document: of an edit that names a url, the number by which one has it already, or else the edit's.
    uint64_t doc_id = 0;
  };

  // What names a request, so that one that is sent again is the same change and no newer one.
  struct RequestName {
    std::string key;        // index::kRequestKeySize bytes
    uint64_t contents = 0;  // a hash of what is asked for
  };
  struct Order {
    std::vector<DocumentEdit> edits;
    std::optional<RequestName> name;
    neptune::TimePoint deadline;
  };

  // One an edit, in order. The last edit of a document wins over those before it.
  virtual std::vector<Written> Write(const Order& order) = 0;
};

}  // namespace search::frontend
