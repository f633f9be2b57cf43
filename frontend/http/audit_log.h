// Audit log: one line of JSON for each change that this frontend accepted or took part in, in the
// order in which the changes end. Who changed what, when, and by what right.
//
//   {"time_us":1700000000123456,"action":"documents","method":"POST","address":"127.0.0.1",
//    "right":"token","class":"gold","status":200,"documents":["17","18"],"failed":0}
//   {"time_us":...,"action":"index_version","change":7,"current":"2024-05-01","number":5}
//   {"time_us":...,"action":"drain"}
//
// "documents" has the numbers of the documents that were added, replaced or removed, the first
// kAuditedDocumentsMax of them; "more" is how many were left out, if any. "failed" counts those
// whose change failed and may have been applied nevertheless. "right" says how the client has shown
// that it may change documents: "token", or "loopback" if this frontend has no token
// (access_rules.h). "forwarded_for" is what the proxy says about the client, with
// trust_forwarded_for. Contents, addresses of documents and secrets are in no line.
//
// "index_version" is a switch to another version of the index, or another change of the list of
// versions, as this frontend saw it (index/versions); who made the list is in the list's own
// history. "drain" is the begin of the frontend's stop.
//
// Threads: thread-safe; does not block.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/documents/document_routes.h"
#include "neptune/base/time.h"
#include "neptune/service/line_log.h"

namespace search::frontend {

inline constexpr size_t kAuditedDocumentsMax = 100;
inline constexpr size_t kAuditedForwardedSizeMax = 256;

struct DocumentAudit {
  neptune::WallTime at;
  std::string_view method;
  std::string_view address;
  std::string_view forwarded_for;  // empty: there is no trusted proxy
  std::string_view right;
  std::string_view service_class;  // empty: none
  int status = 0;
  const ChangedDocuments& changed;
};
std::string AuditLine(const DocumentAudit& audit);

// A list of versions was taken over.
struct VersionAudit {
  neptune::WallTime at;
  uint64_t change = 0;
  std::string_view current;
  uint64_t number = 0;
};
std::string AuditLine(const VersionAudit& audit);

std::string AuditLineOfDrain(neptune::WallTime at);

class AuditLog {
 public:
  // `may_write`: see LineLogOptions. REQUIRES: on a user-level thread; `stack` outlives it. Errors:
  // those of LineLog.
  static neptune::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                           std::function<bool()> may_write,
                                                           neptune::CapsuleStack& stack,
                                                           neptune::MetricsRegistry& metrics);

  void Add(std::string_view line) { lines_->Append(line); }
  // REQUIRES: called once, on the loop on which the log was opened.
  void Close() { lines_->Close(); }

 private:
  explicit AuditLog(std::unique_ptr<neptune::LineLog> lines) : lines_(std::move(lines)) {}

  const std::unique_ptr<neptune::LineLog> lines_;
};

}  // namespace search::frontend
