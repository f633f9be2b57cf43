#include "frontend/render/json/console_json.h"

#include "frontend/render/json/print.h"
#include "frontend/render/json/trace_json.h"
#include "neptune/base/strings.h"

namespace search::frontend::json {
namespace {

using Json = nlohmann::ordered_json;

Json NodeJson(const ConsoleNode& node) {
  Json services = Json::array();
  for (const ConsoleService& service : node.services) {
    services.push_back({{"service", service.name},
                        {"implementation", service.implementation},
                        {"partitions", service.partitions}});
  }
  return {
      {"node", node.name},
      {"calls_at", node.call_endpoint},
      {"draining", node.draining},
      {"load", node.load_index},
      {"processors_used", node.processor_share},
      {"no_status", node.asked.ok() ? Json(nullptr) : Json(neptune::ToStd(node.asked.message()))},
      {"services", std::move(services)}};
}

Json CoverJson(const ServiceCover& cover) {
  Json partitions = Json::array();
  for (const auto& [partition, nodes] : cover.nodes_of_partition) {
    partitions.push_back({{"partition", partition}, {"nodes", nodes}});
  }
  return {{"service", cover.name},
          {"implementations", cover.implementations},
          {"replicas_min", cover.replicas_min()},
          {"partitions", std::move(partitions)}};
}

}  // namespace

std::string ConsoleDocument(const ClusterState& state,
                            const std::vector<TraceLog::Kept>& searches) {
  Json nodes = Json::array();
  for (const ConsoleNode& node : state.nodes) nodes.push_back(NodeJson(node));
  Json services = Json::array();
  for (const ServiceCover& cover : CoverOf(state)) services.push_back(CoverJson(cover));
  Json latest = Json::array();
  for (const TraceLog::Kept& trace : searches) latest.push_back(TraceSummary(*trace));
  Json tables = Json::array();
  for (const ConsoleTable& table : Together(state)) {
    tables.push_back({{"section", table.section},
                      {"title", table.title},
                      {"columns", table.columns},
                      {"rows", table.rows}});
  }
  return Print({{"taken_at_s", Seconds(state.taken_at)},
                {"services", std::move(services)},
                {"nodes", std::move(nodes)},
                {"searches", std::move(latest)},
                {"tables", std::move(tables)}});
}

}  // namespace search::frontend::json
