// A replica of an HTTP service: answers every request after the same time. Prints its port, and
// exits at the end of its input.
//
//   http_replica --service_ms=12.5
//
// Its requests only wait for a timer, so that the replica is never overloaded.

#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"
#include "tools/replay/null_server.h"

DEFINE_double(service_ms, 25, "time from a request to its answer");
DEFINE_string(body, "done", "text of the answer");

namespace search::lab {
namespace {

void Serve() {
  const auto world = neptune::MakeRealWorld({});
  neptune::Loop* const loop = *world->StartLoop({.name = "replica"});
  std::unique_ptr<tools::NullServer> server;
  neptune::Notification listening;
  loop->Post([&] {
    server = tools::NullServer::Listen(
                 *loop, {neptune::kLoopbackAddress, 0},
                 {.body = FLAGS_body, .delay = neptune::FromSeconds(FLAGS_service_ms / 1000)})
                 .value();
    std::printf("port %u\n", server->local().port);
    std::fflush(stdout);
    listening.Notify();
  });
  listening.WaitForNotification();
  for (std::string line; std::getline(std::cin, line);) {
  }
  neptune::Notification ended;
  loop->Post([&] {
    server.reset();
    ended.Notify();
  });
  ended.WaitForNotification();
  world->Stop();
}

}  // namespace
}  // namespace search::lab

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  google::InitGoogleLogging(argv[0]);
  search::lab::Serve();
  return 0;
}
