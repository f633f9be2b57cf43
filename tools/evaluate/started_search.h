// A search of processes on this machine over one file of documents: the cluster of a spec, with an
// index built for it. It ends with this object, and everything it made is removed.
//
// Ports, name and multicast group are its own, so that it does not meet other clusters. Its time
// limits are long, because quality is measured here: a busy machine must not cut answers.
// Threads: thread-compatible; the functions block.
// Errors: NOT_FOUND the programs are not in this program's folder; those of the spec;
//   FAILED_PRECONDITION the index cannot be built, the log says why; UNAVAILABLE or
//   DEADLINE_EXCEEDED the cluster ended or does not serve every partition in time.
// Limits: kReadyTimeMax until every partition is served.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/http/http_get.h"
#include "tools/process/peer_process.h"

namespace search::tools {

inline constexpr std::chrono::seconds kReadyTimeMax{60};

struct StartedSearchOptions {
  std::string spec;       // file of the cluster spec
  std::string documents;  // JSON Lines, as the index builder reads it
  // Additional arguments of the index builder, such as "--partitions=8".
  std::vector<std::string> index_arguments;
};

class StartedSearch {
 public:
  static neptune::StatusOr<std::unique_ptr<StartedSearch>> Start(
      const StartedSearchOptions& options);
  ~StartedSearch();
  StartedSearch(const StartedSearch&) = delete;
  StartedSearch& operator=(const StartedSearch&) = delete;

  // The first frontend of the spec.
  const HttpOrigin& server() const { return server_; }

 private:
  StartedSearch() = default;
  neptune::Status MakeFolder();
  neptune::Status BuildIndex(const StartedSearchOptions& options) const;
  neptune::Status WriteSpec(const std::string& source);
  neptune::Status StartCluster();
  neptune::Status WaitUntilReady() const;

  std::string folder_;
  HttpOrigin server_;
  std::unique_ptr<lab::PeerProcess> cluster_;
};

}  // namespace search::tools
