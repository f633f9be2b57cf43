#include "neptune/node/node_services.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

using Json = nlohmann::json;

Json JsonOf(const ServiceHost::ClassState& state) {
  const ClassTotals& totals = state.totals;
  return {{"name", state.name},
          {"threads", state.own_threads ? Json(*state.own_threads) : Json()},
          {"busy", state.busy_count},
          {"waiting", state.waiting_count},
          {"queue_length_max", state.queue_length_max},
          {"guarantee", state.guarantee},
          {"share", state.share},
          {"arrived", totals.arrived},
          {"served", totals.ended[RequestOutcome::kOk]},
          {"refused", totals.ended[RequestOutcome::kRefused]},
          {"expired", totals.ended[RequestOutcome::kExpired]},
          {"cancelled", totals.ended[RequestOutcome::kCancelled]},
          {"failed", totals.ended[RequestOutcome::kFailed]},
          {"run_s", ToSeconds(totals.ran)},
          {"processor_s", ToSeconds(totals.processor)},
          {"response_s", ToSeconds(totals.response)}};
}

Json JsonOf(const ServiceHost& host) {
  Json classes = Json::array();
  size_t busy_count = 0;
  for (const ServiceHost::ClassState& state : host.Classes()) {
    busy_count += state.busy_count;
    classes.push_back(JsonOf(state));
  }
  return {{"name", host.service().value()},
          {"concurrency", host.threads().all},
          {"busy", busy_count},
          {"scheduling", NameOf(host.policy())},
          {"classes", std::move(classes)}};
}

HttpResponse JsonResponse(const Json& json) {
  HttpResponse response = HttpResponse::Text(200, json.dump(1) + "\n");
  response.headers.Set("Content-Type", "application/json");
  return response;
}

StatusOr<size_t> CountOf(const Json& number, std::string_view what) {
  if (number.is_number_unsigned()) return number.get<size_t>();
  return InvalidArgument(what, " is not a valid number of threads");
}

StatusOr<ThreadShares> SharesOf(const std::string& body, const ServiceHost& host) {
  if (body.size() > kThreadsBodySizeMax) {
    return InvalidArgument("the body has ", body.size(), " bytes; the maximum is ",
                           kThreadsBodySizeMax);
  }
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return InvalidArgument("the body is not a JSON object");
  ThreadShares shares = host.threads();
  std::fill(shares.own.begin(), shares.own.end(), std::nullopt);
  const std::vector<ServiceHost::ClassState> classes = host.Classes();
  for (const auto& [key, value] : json.items()) {
    if (key == "concurrency") {
      NEPTUNE_ASSIGN_OR_RETURN(shares.all, CountOf(value, key));
    } else if (key != "classes" || !value.is_object()) {
      return InvalidArgument("unknown member '", key,
                             "'; expected concurrency or the object classes");
    } else {
      for (const auto& [name, count] : value.items()) {
        const auto found =
            std::find_if(classes.begin(), classes.end(),
                         [&name = name](const auto& state) { return state.name == name; });
        if (found == classes.end()) return InvalidArgument("'", name, "' is not a service class");
        NEPTUNE_ASSIGN_OR_RETURN(shares.own[static_cast<size_t>(found - classes.begin())],
                                 CountOf(count, name));
      }
    }
  }
  return shares;
}

}  // namespace

HttpResponse ShowServices(const ServiceHosts& hosts) {
  Json services = Json::array();
  for (const auto& [name, host] : hosts) services.push_back(JsonOf(*host));
  return JsonResponse({{"services", std::move(services)}});
}

HttpResponse PutThreads(const HttpRequest& request, ServiceHost* host) {
  const StatusOr<ThreadShares> shares = SharesOf(request.body, *host);
  Status status = shares.status();
  if (status.ok()) status = host->SetThreads(*shares);
  if (!status.ok()) return ProblemResponse(status);
  return JsonResponse(JsonOf(*host));
}

void DescribeClasses(const ServiceHosts& hosts, StatusReport* report) {
  StatusTable table{"By service",
                    {"service", "class", "threads", "at work", "waiting", "guarantee", "share",
                     "arrived", "ok", "refused", "expired", "cancelled", "failed"},
                    {}};
  for (const auto& [name, host] : hosts) {
    for (const ServiceHost::ClassState& state : host->Classes()) {
      const ClassTotals& totals = state.totals;
      table.AddRow(name, state.name, state.own_threads ? StrCat(*state.own_threads) : "shared",
                   state.busy_count, state.waiting_count, state.guarantee, state.share,
                   totals.arrived, totals.ended[RequestOutcome::kOk],
                   totals.ended[RequestOutcome::kRefused], totals.ended[RequestOutcome::kExpired],
                   totals.ended[RequestOutcome::kCancelled], totals.ended[RequestOutcome::kFailed]);
    }
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
