#include "neptune/examples/client/example_client.h"

#include <gflags/gflags.h>
#include <glog/logging.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/examples/client/caller_path.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace neptune::examples {
namespace {

constexpr Duration kJoinLook = std::chrono::milliseconds(20);
constexpr Duration kLeaveGrace = std::chrono::seconds(1);

StatusOr<ClusterSpec> SpecWithAsker(const std::string& path, const NodeId& asker) {
  NEPTUNE_ASSIGN_OR_RETURN(ClusterSpec spec, LoadClusterSpec(CallerPath(path)));
  ServiceSpec* const service = spec.add_services();
  service->set_name(asker.value());
  service->set_module("operators");
  NodeSpec* const node = spec.add_nodes();
  node->set_name(asker.value());
  node->add_hosts()->set_service(asker.value());
  NEPTUNE_RETURN_IF_ERROR(CompleteClusterSpec(&spec));
  return spec;
}

Status WaitForPartitions(Client& client, const ServiceName& service, uint32_t partition_count) {
  const TimePoint limit = this_thread::Now() + kJoinTimeout;
  for (uint32_t p = 0; p < partition_count; ++p) {
    while (client.View()->Replicas(service, PartitionId(p)).empty()) {
      if (this_thread::Now() >= limit) {
        return Unavailable("partition ", p, " of ", service, " is not served by any running node");
      }
      this_thread::SleepFor(kJoinLook);
    }
  }
  return OkStatus();
}

Status Ask(Node& node, const ExampleClientOptions& options, uint32_t partition_count) {
  NEPTUNE_RETURN_IF_ERROR(WaitForPartitions(node.client(), options.service, partition_count));
  ClientSession session(node.client());
  return options.ask(session, partition_count);
}

Status StartAndAsk(Node& node, const ExampleClientOptions& options, uint32_t partition_count) {
  Notification started;
  Status status;
  node.Start([&](const Status& result) {
    status = result;
    started.Notify();
  });
  started.WaitForNotification();
  if (status.ok()) {
    Notification asked;
    node.RunOnControl([&] {
      status = Ask(node, options, partition_count);
      asked.Notify();
    });
    asked.WaitForNotification();
  }
  Notification stopped;
  node.Stop(kLeaveGrace, [&] { stopped.Notify(); });
  stopped.WaitForNotification();
  return status;
}

}  // namespace

int RunExampleClient(int* argc, char*** argv, const ExampleClientOptions& options) {
  gflags::SetUsageMessage(options.usage);
  gflags::ParseCommandLineFlags(argc, argv, true);
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_WARNING;
  google::InitGoogleLogging((*argv)[0]);
  const NodeId asker(StrCat("asker-", getpid()));
  const StatusOr<ClusterSpec> spec = SpecWithAsker(*options.spec, asker);
  const ServiceSpec* const service =
      spec.ok() ? FindService(*spec, options.service.value()) : nullptr;
  if (service == nullptr) {
    std::fprintf(stderr, "%s\n",
                 spec.ok() ? StrCat("no service ", options.service, " in ", *options.spec).c_str()
                           : spec.status().ToString().c_str());
    return 2;
  }
  const std::unique_ptr<World> world = MakeRealWorld({});
  NodeOptions node_options;
  node_options.spec = *spec;
  node_options.name = asker;
  node_options.spec_directory = std::filesystem::path(CallerPath(*options.spec)).parent_path();
  node_options.with_admin = false;
  node_options.modules = [&](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<OperatorsModule>(options.register_operators);
  };
  Node node(*world, std::move(node_options));
  const Status status = StartAndAsk(node, options, service->partition_count());
  world->Stop();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace neptune::examples
