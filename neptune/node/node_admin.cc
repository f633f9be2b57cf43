#include "neptune/node/node_admin.h"

#include <filesystem>
#include <utility>

#include "neptune/admin/admin_server.h"
#include "neptune/base/secret_file.h"
#include "neptune/base/strings.h"
#include "neptune/node/hosted_services.h"
#include "neptune/node/node_capsules.h"
#include "neptune/node/node_options.h"
#include "neptune/node/node_replicas.h"
#include "neptune/thread/synchronization.h"
#include "neptune/wire/http/problem.h"

namespace neptune {

NodeAdmin::NodeAdmin(Sources sources) : sources_(std::move(sources)) {}

NodeAdmin::~NodeAdmin() = default;

StatusOr<Endpoint> NodeAdmin::Start(uint32_t address) {
  NEPTUNE_ASSIGN_OR_RETURN(loop_, sources_.world.StartLoop({.name = "admin"}));
  AdminSources pages;
  pages.node_name = StrCat(sources_.options.name, " of cluster ", sources_.options.spec.name());
  pages.metrics = &sources_.metrics;
  pages.sections = &sources_.status;
  pages.readiness = sources_.readiness;
  pages.health = sources_.health;
  NEPTUNE_ASSIGN_OR_RETURN(pages.token, ReadToken());
  network_ = sources_.make_network(*loop_);
  pages.network = network_.get();
  pages.is_member = sources_.is_member;
  pages.for_network = sources_.options.spec.admin_access() == kAdminAccessNetwork;
  server_ = std::make_unique<AdminServer>(sources_.world, *loop_, std::move(pages));
  AddCapsulePages();
  AddServicePages();
  if (sources_.options.add_admin_pages != nullptr) sources_.options.add_admin_pages(*server_);
  return Listen(*loop_, {address, static_cast<uint16_t>(sources_.node.admin_port())});
}

StatusOr<std::string> NodeAdmin::ReadToken() const {
  const NodeOptions& options = sources_.options;
  if (options.spec.admin_token_file().empty()) return std::string();
  return LoadSecret(
      (std::filesystem::path(options.spec_directory) / options.spec.admin_token_file()).string());
}

void NodeAdmin::AddCapsulePages() {
  NodeCapsules& capsules = sources_.capsules;
  server_->AddPage("/capsules", "the dependency capsules, in the format of a capsule file",
                   [&capsules](const HttpRequest&) { return capsules.Show(); });
  server_->AddAction("POST", "/capsules",
                     [&capsules](const HttpRequest& request) { return capsules.Put(request); });
  server_->AddAction("DELETE", "/capsules",
                     [&capsules](const HttpRequest& request) { return capsules.Remove(request); });
}

void NodeAdmin::AddServicePages() {
  const HostedServices& services = sources_.services;
  const auto when_published = [&services](auto answer) -> HttpHandler {
    return [&services, answer](const HttpRequest& request) {
      if (!services.published()) return ProblemResponse(Unavailable("the node is starting"));
      return answer(request);
    };
  };
  server_->AddPage(
      "/services", "the services, their threads, and the totals of each service class",
      when_published([&services](const HttpRequest&) { return ShowServices(services.all()); }));
  for (const HostedServiceSpec& hosted : sources_.node.hosts()) {
    server_->AddAction("PUT", StrCat("/services/", hosted.service(), "/threads"),
                       when_published([&services, &hosted](const HttpRequest& request) {
                         return PutThreads(request, services.all().at(hosted.service()).get());
                       }));
  }
  server_->AddAction("POST", "/replicas/start", when_published([this](const HttpRequest& request) {
                       return StartReplica(request, sources_.replication);
                     }));
}

StatusOr<Endpoint> NodeAdmin::Listen(Loop& loop, const Endpoint& at) {
  OneShotEvent started;
  StatusOr<Endpoint> endpoint = Unavailable("not started");
  loop.Post([&] {
    server_->Start(at, [&](StatusOr<Endpoint> result) {
      endpoint = std::move(result);
      started.Set();
    });
  });
  while (!started.is_set()) this_thread::ParkUntilWoken();
  return endpoint;
}

}  // namespace neptune
