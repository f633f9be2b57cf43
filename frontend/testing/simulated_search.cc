#include "frontend/testing/simulated_search.h"

#include <glog/logging.h>

#include <utility>

#include "frontend/testing/fake_services.h"
#include "frontend/testing/http_user.h"
#include "neptune/base/strings.h"
#include "neptune/node/cluster_spec.h"

namespace search::frontend {
namespace {

using neptune::ClusterSpec;
using neptune::HttpResponse;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr uint16_t kHttpPort = 80;
constexpr char kFrontendNode[] = "web";
constexpr char kUserHost[] = "user";

StatusOr<std::unique_ptr<neptune::ServiceModule>> MakeModule(const std::string& module) {
  if (module == "frontend") return std::make_unique<FrontendModule>();
  return MakeFakeService(module);
}

// Opens the operators' pages to the simulated user, which is on another machine.
std::string ForAnyone(const std::string& parameters) {
  if (parameters.find("operator_pages") != std::string::npos) return "";
  return "parameters { key: 'operator_pages' value: 'anyone' } ";
}

}  // namespace

// A connection whose bytes are kept as they arrive.
class SimulatedSearch::RawUser final : public neptune::StreamHandler {
 public:
  explicit RawUser(std::shared_ptr<std::string> received) : received_(std::move(received)) {}

  void Start(std::unique_ptr<neptune::Stream> stream) {
    stream_ = std::move(stream);
    stream_->Start(this);
  }
  void Write(const std::string& bytes) {
    if (stream_ != nullptr) stream_->Write(bytes);
  }

 private:
  void OnData(std::string_view bytes) override { *received_ += bytes; }
  void OnClosed(const neptune::Status&) override { stream_.reset(); }

  const std::shared_ptr<std::string> received_;
  std::unique_ptr<neptune::Stream> stream_;
};

ClusterSpec FakeClusterSpec(const std::string& frontend_parameters, const std::string& more) {
  std::string text = StrCat(
      "name: 'test' multicast_group: '239.192.7.2:7400' "
      "services { name: 'tier1' module: 'fake_tier' partition_count: 2 time_limit { "
      "lower_bound_ms: ",
      neptune::ToMillis(kFakeTimeLimit), " upper_bound_ms: ", neptune::ToMillis(kFakeTimeLimit),
      " } } "
      "services { name: 'tier2' module: 'fake_tier' partition_count: 2 } "
      "services { name: 'docs' module: 'fake_documents' partition_count: 2 } "
      "services { name: 'cache' module: 'fake_cache' } "
      "services { name: 'frontend' module: 'frontend' ",
      frontend_parameters,
      " parameters { key: 'tier1_partitions' value: '2' } "
      "parameters { key: 'tier2_partitions' value: '2' } "
      "parameters { key: 'docs_partitions' value: '2' } } "
      "nodes { name: 'cache' hosts { service: 'cache' } } "
      "nodes { name: 'web' hosts { service: 'frontend' } } ",
      more);
  for (const char* service : {"tier1", "tier2", "docs"}) {
    for (int partition : {0, 1}) {
      StrAppend(&text, "nodes { name: '", service, "-", partition, "' hosts { service: '", service,
                "' partitions: ", partition, " } } ");
    }
  }
  StatusOr<ClusterSpec> spec = neptune::ParseClusterSpec(text, "test");
  CHECK(spec.ok()) << spec.status();
  return *std::move(spec);
}

SimulatedSearch::SimulatedSearch(uint64_t seed, const std::string& frontend_parameters,
                                 const std::string& more)
    : spec_(FakeClusterSpec(
          StrCat("parameters { key: 'http_address' value: '0.0.0.0' } "
                 "parameters { key: 'http_port' value: '",
                 kHttpPort, "' } ", ForAnyone(frontend_parameters), frontend_parameters),
          more)),
      nodes_({.seed = seed, .make_options = [this](const std::string&) {
                return neptune::NodeOptions{.spec = spec_, .modules = MakeModule};
              }}) {
  nodes_.AddAll(spec_);
  user_loop_ = *simulator().AddHost({.name = kUserHost}).StartLoop({.name = "user"});
  RunFor(std::chrono::milliseconds(500));
}

SimulatedSearch::~SimulatedSearch() {
  raw_users_.clear();
  for (const std::string& host : simulator().host_names()) simulator().Resume(host);
  RunFor(std::chrono::seconds(3));
}

std::shared_ptr<TimedResponse> SimulatedSearch::Begin(const std::string& target,
                                                      const neptune::HttpHeaders& headers,
                                                      const std::string& method) {
  auto response = std::make_shared<TimedResponse>();
  response->http.status = 0;
  Send(target, headers, method, std::make_shared<std::unique_ptr<HttpUser>>(), response);
  return response;
}

std::shared_ptr<std::string> SimulatedSearch::BeginRaw(std::vector<std::string> pieces) {
  auto received = std::make_shared<std::string>();
  if (raw_users_.size() == kRawUserCountMax) raw_users_.pop_front();
  const auto user = raw_users_.emplace_back(std::make_shared<RawUser>(received));
  const neptune::Endpoint to{simulator().host(kFrontendNode).address(), kHttpPort};
  user_loop_->Post([this, to, user, pieces = std::move(pieces)] {
    user_loop_->network().Connect(
        to, neptune::kNever,
        [this, user, pieces](StatusOr<std::unique_ptr<neptune::Stream>> stream) {
          CHECK(stream.ok()) << stream.status();
          user->Start(*std::move(stream));
          neptune::TimePoint when = user_loop_->Now();
          for (const std::string& piece : pieces) {
            user_loop_->RunAt(when, [user, piece] { user->Write(piece); });
            when += std::chrono::milliseconds(1);
          }
        });
  });
  return received;
}

void SimulatedSearch::BeginAndLeave(const std::string& target, neptune::Duration after) {
  const auto user = std::make_shared<std::unique_ptr<HttpUser>>();
  Send(target, {}, "GET", user, std::make_shared<TimedResponse>());
  user_loop_->Post([this, user, when = simulator().now() + after] {
    user_loop_->RunAt(when, [user] { user->reset(); });
  });
}

void SimulatedSearch::Send(const std::string& target, const neptune::HttpHeaders& headers,
                           const std::string& method, const User& user,
                           const std::shared_ptr<TimedResponse>& response) {
  const neptune::Endpoint to{simulator().host(kFrontendNode).address(), kHttpPort};
  const neptune::TimePoint begin = simulator().now();
  user_loop_->Post([this, response, to, target, headers, method, begin, user] {
    *user = std::make_unique<HttpUser>(
        *user_loop_, [this, response, begin, user](StatusOr<HttpResponse> answer) {
          response->took = simulator().now() - begin;
          if (answer.ok()) response->http = *std::move(answer);
          // Posted, because the user object is still executing.
          user_loop_->Post([user] { user->reset(); });
        });
    (*user)->Send(to, method, target, headers);
  });
}

TimedResponse SimulatedSearch::Get(const std::string& target, const neptune::HttpHeaders& headers,
                                   const std::string& method) {
  const auto response = Begin(target, headers, method);
  simulator().RunUntilTrue([&] { return response->http.status != 0; },
                           simulator().now() + std::chrono::minutes(1));
  return *response;
}

double SimulatedSearch::CallCount(const std::string& node_prefix, const std::string& service,
                                  const std::string& method, const std::string& outcome) {
  double count = 0;
  const neptune::MetricLabels labels = {
      {"service", service}, {"method", method}, {"outcome", outcome}};
  for (const neptune::NodeSpec& node : spec_.nodes()) {
    if (!node.name().starts_with(node_prefix)) continue;
    count += *nodes_.node(node.name()).metrics().Value("neptune_requests_total", labels);
  }
  return count;
}

double SimulatedSearch::Metric(const std::string& name, const neptune::MetricLabels& labels) {
  const StatusOr<double> value = node(kFrontendNode).metrics().Value(name, labels);
  CHECK(value.ok()) << value.status();
  return *value;
}

}  // namespace search::frontend
