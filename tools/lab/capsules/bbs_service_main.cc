// BBS with real cache servers, for cap_bbs: a forum that uses two Redis servers through hiredis,
// its database, and the client that loads it, all in this process. hiredis does not know user-level
// threads, so the program is interposed.
//
//   bbs_service --redis=127.0.0.1:7001,127.0.0.1:7002 --isolation=capsules --length_s=30
//
// Prints "ready" when the caches hold the most popular pages, and begins with the next line of its
// input. It then prints "ARRIVED_S RESPONSE_S ANSWERED FROM_CACHE" for each request, and "end".

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "neptune/base/strings.h"
#include "neptune/examples/forum/forum_database_module.h"
#include "neptune/examples/forum/forum_module.h"
#include "neptune/examples/forum/redis_page_cache.h"
#include "neptune/examples/forum/topic_page.h"
#include "neptune/interpose/call_permit.h"
#include "tools/lab/capsules/dependency_real.h"

DEFINE_string(redis, "", "the cache servers");
DEFINE_string(isolation, "bounded", "bounded, unbounded or capsules");
DEFINE_int32(pool, search::lab::kDependencyMainPool,
             "pool size of the forum if isolation is bounded");
DEFINE_string(capsule_fields, "", "further fields of each cache's capsule");
DEFINE_double(length_s, search::lab::kDependencyRunS, "duration of the offered load");
DEFINE_uint64(seed, 1, "seed of the requests and their times");

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

StatusOr<DependencyScheme> Scheme() {
  if (FLAGS_isolation == "bounded") return DependencyScheme{.pool = FLAGS_pool};
  if (FLAGS_isolation == "unbounded") return DependencyScheme{Isolation::kUnboundedPool};
  if (FLAGS_isolation == "capsules") {
    return DependencyScheme{Isolation::kCapsules, FLAGS_pool, FLAGS_capsule_fields};
  }
  return neptune::InvalidArgument("no isolation '", FLAGS_isolation, "'");
}

std::string Parameter(const std::string& key, const auto& value) {
  return StrCat(" parameters { key: '", key, "' value: '", value, "' }");
}

// The forum of the simulated runs, with other caches.
DependencyService Service() {
  DependencyService service = BbsService();
  service.spec = StrCat(" services { name: 'front' module: 'front'",
                        Parameter("work_us", kBbsFrontUs), Parameter("redis_servers", FLAGS_redis),
                        " } services { name: 'forum_database' module: 'forum_database'",
                        Parameter("synthetic_topics", kBbsTopicCount),
                        Parameter("read_work_us", kBbsDatabaseUs),
                        " } nodes { name: 'database' hosts { service: 'forum_database' } }");
  service.dependencies.clear();
  for (const auto server : absl::StrSplit(neptune::ToAbsl(FLAGS_redis), ',')) {
    service.dependencies.push_back(StrCat("inet:", neptune::ToStd(server)));
  }
  service.modules =
      [](const std::string& name) -> StatusOr<std::unique_ptr<neptune::ServiceModule>> {
    if (name == "front") {
      return std::make_unique<neptune::examples::ForumModule>(
          neptune::examples::MakeRedisPageCache());
    }
    return std::make_unique<neptune::examples::ForumDatabaseModule>();
  };
  return service;
}

// The number of first topics that receive the share of requests that the paper's caches answered.
Status FillCaches(neptune::Node& client) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto cache, neptune::examples::RedisPageCacheAt(FLAGS_redis));
  neptune::ClientSession session(client.client());
  const std::string page(2'000, 'x');
  for (uint64_t topic = 1; topic <= kBbsFilledTopicCount; ++topic) {
    NEPTUNE_RETURN_IF_ERROR(
        cache->Store(neptune::examples::TopicPageName(topic), page,
                     {session, neptune::this_thread::Now() + std::chrono::seconds(5)}));
  }
  return neptune::OkStatus();
}

Status Serve() {
  NEPTUNE_ASSIGN_OR_RETURN(const DependencyScheme scheme, Scheme());
  NEPTUNE_ASSIGN_OR_RETURN(
      auto cluster,
      RealDependencyCluster::Start(
          {.seed = FLAGS_seed, .service = Service(), .scheme = scheme, .rate_per_s = kBbsRate},
          ProcessorTime::kEmulated));
  Status status;
  cluster->RunOn("client", [&](neptune::Node& client) { status = FillCaches(client); });
  NEPTUNE_RETURN_IF_ERROR(status);
  cluster->RunOn("front",
                 [](neptune::Node& front) { neptune::interpose::UseCapsules(&front.capsules()); });
  std::cout << "ready" << std::endl;
  std::string line;
  std::getline(std::cin, line);
  for (const DependencyOutcome& one : cluster->Offer(FLAGS_length_s).outcomes) {
    std::printf("%.6f %.6f %d %d\n", one.arrived_s, one.response_s, one.answered, one.from_cache);
  }
  std::printf("end\n");
  std::fflush(stdout);
  neptune::interpose::UseCapsules(nullptr);
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  google::InitGoogleLogging(argv[0]);
  const neptune::Status status = search::lab::Serve();
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
