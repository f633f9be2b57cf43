#include "tools/mtrr/service_state.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using Json = nlohmann::json;

// Takes members out of one JSON object and remembers the first that is wrong.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string what) : object_(object), what_(std::move(what)) {
    if (!object_.is_object()) status_ = InvalidArgument(what_, " is not an object");
  }

  std::string Text(const char* name) {
    const Json* value = Member(name);
    if (value && value->is_string()) return value->get<std::string>();
    return Fail(name, "no text"), std::string();
  }
  int SmallCount(const char* name) {
    const uint64_t count = Count(name);
    if (count <= static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      return static_cast<int>(count);
    }
    return Fail(name, "too large"), 0;
  }
  uint64_t Count(const char* name) {
    const Json* value = Member(name);
    if (value && value->is_number_unsigned()) return value->get<uint64_t>();
    return Fail(name, "no count"), 0;
  }
  double Seconds(const char* name) {
    const Json* value = Member(name);
    const double seconds = value && value->is_number() ? value->get<double>() : -1;
    if (std::isfinite(seconds) && seconds >= 0) return seconds;
    return Fail(name, "no time"), 0;
  }
  std::optional<int> CountOrNull(const char* name) {
    const Json* value = Member(name);
    if (value && value->is_null()) return std::nullopt;
    return SmallCount(name);
  }
  const Json& List(const char* name, size_t size_max) {
    static const Json* const none = new Json(Json::array());
    const Json* value = Member(name);
    if (value && value->is_array() && value->size() <= size_max) return *value;
    return Fail(name, value && value->is_array() ? "too long" : "not a list"), *none;
  }
  const Status& status() const { return status_; }

 private:
  const Json* Member(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void Fail(const char* name, const char* how) {
    if (status_.ok()) status_ = InvalidArgument(what_, ": '", name, "' is ", how);
  }

  const Json& object_;
  const std::string what_;
  Status status_;
};

StatusOr<ServiceClassState> ReadClass(const Json& json, const std::string& service) {
  ObjectReader reader(json, "a class of service '" + service + "'");
  ServiceClassState state;
  state.counters.name = reader.Text("name");
  state.counters.thread_count = reader.CountOrNull("threads");
  state.busy_count = reader.SmallCount("busy");
  state.waiting_count = reader.SmallCount("waiting");
  state.queue_length_max = reader.SmallCount("queue_length_max");
  state.counters.arrived = reader.Count("arrived");
  state.counters.served = reader.Count("served");
  const uint64_t refused = reader.Count("refused");
  const uint64_t expired = reader.Count("expired");
  state.counters.lost = refused + expired;
  state.counters.run_s = reader.Seconds("run_s");
  state.counters.processor_s = reader.Seconds("processor_s");
  state.counters.response_s = reader.Seconds("response_s");
  NEPTUNE_RETURN_IF_ERROR(reader.status());
  return state;
}

StatusOr<ServiceState> ReadService(const Json& json) {
  ObjectReader reader(json, "a service");
  ServiceState state;
  state.name = reader.Text("name");
  state.concurrency = reader.SmallCount("concurrency");
  state.busy_count = reader.SmallCount("busy");
  const Json& classes = reader.List("classes", kServiceClassCountMax);
  NEPTUNE_RETURN_IF_ERROR(reader.status());
  for (const Json& one : classes) {
    NEPTUNE_ASSIGN_OR_RETURN(ServiceClassState read, ReadClass(one, state.name));
    state.classes.push_back(std::move(read));
  }
  return state;
}

}  // namespace

const ServiceState* NodeServices::Find(std::string_view service) const {
  for (const ServiceState& one : services) {
    if (one.name == service) return &one;
  }
  return nullptr;
}

StatusOr<NodeServices> ParseServices(std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument("the node's services are not JSON");
  ObjectReader reader(document, "the node's services");
  const Json& services = reader.List("services", kServiceCountMax);
  NEPTUNE_RETURN_IF_ERROR(reader.status());
  NodeServices node;
  for (const Json& one : services) {
    NEPTUNE_ASSIGN_OR_RETURN(ServiceState read, ReadService(one));
    node.services.push_back(std::move(read));
  }
  return node;
}

std::string ThreadSettingsJson(const ThreadSettings& settings) {
  Json classes = Json::object();
  for (const auto& [name, count] : settings.classes) classes[name] = count;
  return Json{{"concurrency", settings.concurrency}, {"classes", classes}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

ThreadSettings SettingsOf(const ServiceState& state) {
  ThreadSettings settings{.concurrency = state.concurrency, .classes = {}};
  for (const ServiceClassState& one : state.classes) {
    if (one.counters.thread_count) {
      settings.classes[one.counters.name] = *one.counters.thread_count;
    }
  }
  return settings;
}

}  // namespace search::tools
