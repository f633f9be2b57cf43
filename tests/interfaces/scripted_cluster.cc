// Runs a whole search cluster in the simulated world by a script: reads lines of JSON, first the
// cluster, then one step each, and writes a line of JSON for each step:
//
//   {"live": true, "parameters": [["frontend", "http_rate_burst", "2"]]}      service parameters
//   {"do": "send", "node": "web-1", "method": "GET", "target": "/", "headers": {}, "body": ""}
//   {"do": "run", "ms": 2000}
//   {"do": "kill", "node": "store-1"}
//   {"do": "metrics", "node": "store-2"}
//   {"do": "routes", "node": "web-1"}
//
// The answer of `send` has status, headers and body; of `metrics` it is the text of the node, of
// `routes` the routes of the frontend, of other steps null. With "live" documents change.
//
// Threads: one. Errors: a line that cannot be read ends the process.

#include <glog/logging.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "index/core/testing/collection.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/small_index.h"

namespace search::tests {
namespace {

using nlohmann::json;

constexpr uint64_t kSeed = 5;

json Send(SearchCluster& cluster, const json& step) {
  tools::HttpExchange exchange;
  exchange.method = step.value("method", "GET");
  exchange.target = step.at("target");
  exchange.body = step.value("body", "");
  const json wanted = step.value("headers", json::object());
  for (const auto& [name, value] : wanted.items()) {
    exchange.headers.Set(name, value.get<std::string>());
  }
  const auto response = cluster.Send(step.at("node"), exchange);
  CHECK(response.ok()) << step << ": " << response.status();
  json headers = json::object();
  for (const auto& [name, value] : response->headers) headers[name] = value;
  return {{"status", response->status}, {"headers", headers}, {"body", response->body}};
}

json Routes(const SearchCluster& cluster, const std::string& node) {
  json routes = json::array();
  for (const neptune::HttpRoute& route : cluster.RoutesOf(node)) {
    routes.push_back(
        {{"method", route.method}, {"path", route.path}, {"is_prefix", route.is_prefix}});
  }
  return routes;
}

json Do(SearchCluster& cluster, const json& step) {
  const std::string what = step.at("do");
  if (what == "send") return Send(cluster, step);
  if (what == "routes") return Routes(cluster, step.at("node"));
  if (what == "metrics") return cluster.NodeNamed(step.at("node")).metrics().Text();
  if (what == "run") {
    cluster.simulator().RunFor(std::chrono::milliseconds(step.at("ms").get<int64_t>()));
  } else {
    CHECK_EQ(what, "kill");
    cluster.Kill(step.at("node"));
  }
  return nullptr;
}

void Run(const json& wanted) {
  const index::TemporaryFolder folder;
  const SmallCorpus corpus = MakeSmallCorpus(kSeed);
  const neptune::Status built = BuildSmallIndex(folder.path(), corpus, Placement(corpus, {}));
  CHECK(built.ok()) << built;
  neptune::ClusterSpec spec = wanted.value("live", false) ? LiveSpec(folder.path()) : DevSpec();
  for (const json& parameter : wanted.value("parameters", json::array())) {
    SetParameter(&spec, parameter.at(0), parameter.at(1), parameter.at(2));
  }
  SearchCluster cluster(kSeed, spec, folder.path());
  for (std::string line; std::getline(std::cin, line);) {
    const json answer = Do(cluster, json::parse(line));
    std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
}

}  // namespace
}  // namespace search::tests

int main(int, char** argv) {
  google::InitGoogleLogging(argv[0]);
  std::string line;
  CHECK(std::getline(std::cin, line)) << "the line that describes the cluster is missing";
  search::tests::Run(nlohmann::json::parse(line));
  return std::cout.good() ? 0 : 1;
}
