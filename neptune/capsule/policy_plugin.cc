#include "neptune/capsule/policy_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/policy_plugin_abi.h"

namespace neptune {
namespace {

constexpr size_t kErrorSizeMax = 256;

int64_t Nanoseconds(TimePoint time) { return time.time_since_epoch().count(); }

// A call as a C struct; owns the strings that it points to.
class PlainCall {
 public:
  explicit PlainCall(const CapsuleCall& call) : service_class_(call.service_class), plain_() {
    if (const auto* const network = std::get_if<NetworkOperation>(&call.operation)) {
      service_ = network->service;
      host_ = network->host;
      node_ = network->node;
      plain_.address = network->address;
      plain_.port = network->port;
      plain_.partition =
          network->partition ? network->partition->value() : NEPTUNE_CAPSULE_NO_PARTITION;
    } else {
      path_ = std::get<DeviceOperation>(call.operation).path;
      plain_.partition = NEPTUNE_CAPSULE_NO_PARTITION;
    }
    plain_.id = call.id;
    plain_.caller = call.caller;
    plain_.entered_ns = Nanoseconds(call.entered);
    plain_.deadline_ns =
        call.deadline == kNever ? NEPTUNE_CAPSULE_NO_DEADLINE : Nanoseconds(call.deadline);
    plain_.service_class = service_class_.c_str();
    plain_.service = service_.c_str();
    plain_.host = host_.c_str();
    plain_.node = node_.c_str();
    plain_.path = path_.c_str();
  }
  PlainCall(const PlainCall&) = delete;
  PlainCall& operator=(const PlainCall&) = delete;
  const neptune_capsule_call* get() const { return &plain_; }

 private:
  const std::string service_class_;
  std::string service_;
  std::string host_;
  std::string node_;
  std::string path_;
  neptune_capsule_call plain_;
};

neptune_capsule_occupancy Plain(const CapsuleOccupancy& now) {
  return {.resident_count = now.resident_count,
          .waiting_count = now.waiting_count,
          .processing_count = now.processing_count,
          .resident_count_max = now.resident_count_max,
          .processing_count_max = now.processing_count_max,
          .mean_time_ns = now.mean_time.count()};
}

PolicyDecision DecisionOf(const neptune_capsule_decision& decision) {
  using Action = PolicyDecision::Action;
  switch (decision.action) {
    case NEPTUNE_CAPSULE_DELAY:
      return {Action::kDelay, Duration(std::max<int64_t>(0, decision.delay_ns)), {}};
    case NEPTUNE_CAPSULE_TERMINATE:
      return {Action::kTerminate, {}, {}};
    case NEPTUNE_CAPSULE_MIGRATE:
      return {Action::kMigrate, {}, decision.target == nullptr ? "" : decision.target};
    default:
      return {};
  }
}

// Exceptions of callbacks propagate to the capsule, which catches them.
class PluginPolicy final : public CapsulePolicy {
 public:
  PluginPolicy(const neptune_capsule_policy& plugin, void* state)
      : plugin_(plugin), state_(state) {}
  ~PluginPolicy() override {
    try {
      plugin_.destroy(state_);
    } catch (...) {  // nothing left to replace
    }
  }

  PolicyDecision Arrive(const CapsuleCall& call, const CapsuleOccupancy& now) override {
    const PlainCall plain(call);
    const neptune_capsule_occupancy occupancy = Plain(now);
    neptune_capsule_decision decision{};
    plugin_.arrive(state_, plain.get(), &occupancy, &decision);
    return DecisionOf(decision);
  }
  void Wait(const CapsuleCall& call) override {
    const PlainCall plain(call);
    plugin_.wait(state_, plain.get());
  }
  void Forget(uint64_t id) override { plugin_.forget(state_, id); }
  std::optional<uint64_t> Next(const CapsuleOccupancy& now) override {
    const neptune_capsule_occupancy occupancy = Plain(now);
    const uint64_t id = plugin_.next(state_, &occupancy);
    return id == 0 ? std::nullopt : std::optional(id);
  }

 private:
  const neptune_capsule_policy& plugin_;
  void* const state_;
};

Status CheckTable(const neptune_capsule_policy* plugin) {
  if (plugin == nullptr) return InvalidArgument("it returns no table of callbacks");
  if (plugin->version != NEPTUNE_CAPSULE_POLICY_VERSION) {
    return InvalidArgument("its version is ", plugin->version, ", not ",
                           NEPTUNE_CAPSULE_POLICY_VERSION);
  }
  const std::pair<const char*, bool> callbacks[] = {
      {"create", plugin->create != nullptr}, {"destroy", plugin->destroy != nullptr},
      {"arrive", plugin->arrive != nullptr}, {"wait", plugin->wait != nullptr},
      {"forget", plugin->forget != nullptr}, {"next", plugin->next != nullptr}};
  for (const auto& [name, is_there] : callbacks) {
    if (!is_there) return InvalidArgument("it lacks the callback ", name);
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<CapsulePolicy>> Make(void* library, const std::string& parameters) {
  using Entry = const neptune_capsule_policy* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, NEPTUNE_CAPSULE_POLICY_ENTRY));
  if (entry == nullptr) {
    return InvalidArgument("it has no function " NEPTUNE_CAPSULE_POLICY_ENTRY);
  }
  const neptune_capsule_policy* const plugin = entry();
  NEPTUNE_RETURN_IF_ERROR(CheckTable(plugin));
  char error[kErrorSizeMax] = "";
  void* const state = plugin->create(parameters.c_str(), error, sizeof(error));
  error[kErrorSizeMax - 1] = 0;
  if (state == nullptr) return InvalidArgument("it refuses '", parameters, "': ", error);
  return std::make_unique<PluginPolicy>(*plugin, state);
}

}  // namespace

StatusOr<std::unique_ptr<CapsulePolicy>> LoadPolicyPlugin(const std::string& library,
                                                          const std::string& parameters) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (loaded == nullptr) return NotFound("policy library '", library, "': ", dlerror());
  StatusOr<std::unique_ptr<CapsulePolicy>> policy = Internal("not made");
  try {
    policy = Make(loaded, parameters);
  } catch (const std::exception& thrown) {
    policy = InvalidArgument("it threw: ", thrown.what());
  } catch (...) {
    policy = InvalidArgument("it threw");
  }
  if (!policy.ok()) return Annotate(policy.status(), StrCat("policy library '", library, "'"));
  return policy;
}

}  // namespace neptune
