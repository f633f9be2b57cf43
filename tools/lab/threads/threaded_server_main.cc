// A server whose requests run on kernel threads that share one processor in turns, with the
// administration of a node: `mtrr` can profile it and apply plans to it without a cluster. Prints
// its port, and exits at the end of its input.
//
//   threaded_server --processor_ms=2 --device_ms=6 --device_width=4
//
//   GET /request                  a request, of the class in the header Neptune-Service-Class
//   GET /services                 as a node's administration port
//   PUT /services/work/threads    the same, with the token

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/real/real_world.h"
#include "tools/lab/threads/kernel_class_threads.h"

DEFINE_double(processor_ms, 10, "mean processor time of a request");
DEFINE_double(device_ms, 0, "mean time of a request at the device, which needs no processor");
DEFINE_int32(device_width, 1, "requests that the device serves at once");
DEFINE_bool(stratified, false, "times are drawn so that throughput varies little");
DEFINE_int32(queue_length_max, 128, "limit of waiting requests of a class");
DEFINE_int32(concurrency, 1, "initial number of threads");
DEFINE_int32(processor, -1, "the processor that the threads share; -1: the last one");
DEFINE_uint64(seed, 1, "seed of the times");
DEFINE_string(token, "secret", "token that requests for changes must carry");

namespace search::lab {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using nlohmann::json;

constexpr char kService[] = "work";
constexpr int kNice = -15;
// At least one connection for every request in progress.
constexpr size_t kConnectionCountMax = 4096;

KernelClassThreads::Options ThreadOptions() {
  KernelClassThreads::Options options;
  options.work = {.processor_s = FLAGS_processor_ms / 1000,
                  .device_s = FLAGS_device_ms / 1000,
                  .stratified = FLAGS_stratified,
                  .device_width = FLAGS_device_width};
  options.queue_length_max = FLAGS_queue_length_max;
  const auto count = static_cast<int>(std::thread::hardware_concurrency());
  options.processor = FLAGS_processor < 0 ? count - 1 : FLAGS_processor;
  options.seed = FLAGS_seed;
  return options;
}

json StateJson(const KernelClassThreads& threads) {
  json classes = json::array();
  int busy = 0;
  for (const KernelClassState& one : threads.States()) {
    busy += one.busy_count;
    classes.push_back({{"name", one.name},
                       {"threads", one.thread_count > 0 ? json(one.thread_count) : json()},
                       {"busy", one.busy_count},
                       {"waiting", one.waiting_count},
                       {"queue_length_max", threads.queue_length_max()},
                       {"arrived", one.arrived},
                       {"served", one.served},
                       {"refused", one.refused},
                       {"expired", 0},
                       {"run_s", one.run_s},
                       {"processor_s", one.processor_s},
                       {"response_s", one.response_s}});
  }
  return {{"services", json::array({{{"name", kService},
                                     {"concurrency", threads.concurrency()},
                                     {"busy", busy},
                                     {"classes", classes}}})}};
}

HttpResponse Change(KernelClassThreads& threads, const HttpRequest& request) {
  if (request.headers.Get("Authorization") != neptune::StrCat("Bearer ", FLAGS_token)) {
    return neptune::ProblemResponse(401, "", "the token is missing or wrong");
  }
  const json body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("concurrency") ||
      !body["concurrency"].is_number_integer()) {
    return neptune::ProblemResponse(400, "",
                                    "expected the body {\"concurrency\":...,\"classes\":{...}}");
  }
  std::map<std::string, int> classes;
  const json named = body.value("classes", json::object());
  for (const auto& [name, count] : named.items()) {
    classes[name] = count.is_number_integer() ? count.get<int>() : 0;
  }
  const neptune::Status status = threads.Set(body["concurrency"].get<int>(), classes);
  if (!status.ok()) return neptune::ProblemResponse(status);
  return HttpResponse::Json(200, StateJson(threads).dump());
}

neptune::HttpRouter Routes(KernelClassThreads& threads) {
  neptune::HttpRouter router;
  router.Add("GET", "/request", [&threads](const HttpRequest& request) {
    const std::string service_class(request.headers.Get("Neptune-Service-Class"));
    const neptune::Status status = threads.Serve(service_class.empty() ? "default" : service_class);
    return status.ok() ? HttpResponse::Text(200, "done") : neptune::ProblemResponse(status);
  });
  router.Add("GET", "/services", [&threads](const HttpRequest&) {
    return HttpResponse::Json(200, StateJson(threads).dump());
  });
  router.Add("PUT", neptune::StrCat("/services/", kService, "/threads"),
             [&threads](const HttpRequest& request) { return Change(threads, request); });
  return router;
}

void Serve() {
  // Real-time priority if permitted; all threads inherit it.
  setpriority(PRIO_PROCESS, 0, kNice);
  KernelClassThreads threads(ThreadOptions());
  CHECK(threads.Set(FLAGS_concurrency, {}).ok());
  const neptune::HttpRouter router = Routes(threads);
  const auto world = neptune::MakeRealWorld({});
  neptune::Loop* const loop = *world->StartLoop({.name = "server"});
  std::unique_ptr<neptune::ThreadScheduler> scheduler;
  std::unique_ptr<neptune::HttpServer> server;
  neptune::Notification listening;
  loop->Post([&] {
    scheduler = std::make_unique<neptune::ThreadScheduler>(*loop);
    server = std::make_unique<neptune::HttpServer>(
        *world, *scheduler, neptune::HttpServerOptions{.connection_count_max = kConnectionCountMax},
        [&router](const HttpRequest& request) { return router.Handle(request); });
    const neptune::Status status = server->Listen({neptune::kLoopbackAddress, 0});
    CHECK(status.ok()) << status;
    std::printf("port %u\n", server->local().port);
    std::fflush(stdout);
    listening.Notify();
  });
  listening.WaitForNotification();
  for (std::string line; std::getline(std::cin, line);) {
  }
  neptune::Notification drained;
  loop->Post(
      [&] { server->Drain(loop->Now() + std::chrono::seconds(30), [&] { drained.Notify(); }); });
  drained.WaitForNotification();
  neptune::Notification ended;
  loop->Post([&] {
    server.reset();
    scheduler.reset();
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
