// Administration of a node's services.
//
//   GET /services                 their threads and the totals of each service class, as JSON
//   PUT /services/NAME/threads    {"concurrency": 12, "classes": {"gold": 8}}: changes the threads;
//                                 needs the token
//   /statusz                      section "service classes"
//
//   {"services": [{"name": "index", "concurrency": 12, "busy": 3, "scheduling": "adaptive",
//   "classes": [
//      {"name": "gold", "threads": 8, "busy": 2, "waiting": 0, "queue_length_max": 40,
//       "guarantee": 0.2, "share": 0.31, "arrived": 1234, "served": 1200, "refused": 3,
//       "expired": 31, "cancelled": 0, "failed": 0, "run_s": 12.5, "processor_s": 10.1,
//       "response_s": 15.0}]}]}
//
// Counts and sums are since the node's start; "threads" is null if the class has none of its own.
//
// Source: [Jamjoom04] VI (an allocation is applied).
// Threads: pure functions on hosts that are thread-safe.
// Errors: PUT: as problem documents: 400 malformed JSON, an unknown class, invalid numbers.
// Limits: a body of kThreadsBodySizeMax bytes.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "neptune/base/status_section.h"
#include "neptune/service/service_host.h"
#include "neptune/wire/http/http_message.h"

namespace neptune {

inline constexpr size_t kThreadsBodySizeMax = 16 * 1024;

using ServiceHosts = std::map<std::string, std::unique_ptr<ServiceHost>, std::less<>>;

HttpResponse ShowServices(const ServiceHosts& hosts);
// Changes the threads and returns the service's new state. Classes that are not named lose their
// own threads.
HttpResponse PutThreads(const HttpRequest& request, ServiceHost* host);
void DescribeClasses(const ServiceHosts& hosts, StatusReport* report);

}  // namespace neptune
