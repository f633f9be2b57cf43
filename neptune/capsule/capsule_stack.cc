#include "neptune/capsule/capsule_stack.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/policy_plugin.h"

namespace neptune {
namespace {

std::atomic<uint64_t> stack_count{0};

// Operations whose capsule a thread remembers.
constexpr size_t kKnownCount = 16;

TimePoint Now() {
  Loop* const loop = Loop::Current();
  return loop == nullptr ? TimePoint() : loop->Now();
}

StatusOr<std::unique_ptr<CapsulePolicy>> MakePolicy(const CapsuleConfig& config) {
  if (config.policy.kind != PolicyKind::kPlugin) return MakeBuiltInPolicy(config.policy.kind);
  auto policy = LoadPolicyPlugin(config.policy.library, config.policy.parameters);
  if (policy.ok()) return policy;
  return Annotate(policy.status(), StrCat("capsule '", config.name, "'"));
}

std::string HelperName(std::string_view capsule) { return StrCat("cap-", capsule); }

}  // namespace

// The layer that takes an operation of the runtime's own; the rules are asked once for each.
struct CapsuleStack::KnownOperation {
  bool Is(const NetworkOperation& operation) const {
    return known && address == operation.address && port == operation.port &&
           partition == operation.partition && service == operation.service &&
           node == operation.node;
  }
  void Learn(const NetworkOperation& operation, const Layer* taken_by) {
    known = true;
    address = operation.address;
    port = operation.port;
    partition = operation.partition;
    service = operation.service;
    node = operation.node;
    layer = taken_by;
  }

  bool known = false;
  uint32_t address = 0;
  uint16_t port = 0;
  std::optional<PartitionId> partition;
  std::string service;
  std::string node;
  const Layer* layer = nullptr;  // null: none takes it
};

// The layers that a kernel thread used last, cached until the version changes, and the operations
// that it knows.
struct CapsuleStack::LayersOfThread {
  ~LayersOfThread() {
    if (snapshot != nullptr) Drop(snapshot);
  }

  const Layers& layers() const { return *snapshot->layers; }
  void Renew(uint64_t stack_number, uint64_t stack_version, std::shared_ptr<const Layers> now) {
    if (snapshot != nullptr) Drop(snapshot);
    snapshot = new Snapshot{std::move(now), 1};
    known.clear();
    stack = stack_number;
    version = stack_version;
  }

  uint64_t stack = 0;
  uint64_t version = 0;
  Snapshot* snapshot = nullptr;       // one of its uses is this
  std::vector<KnownOperation> known;  // empty, or kKnownCount

  KnownOperation& KnownFor(const NetworkOperation& operation) {
    if (known.empty()) known.resize(kKnownCount);
    const uint32_t partition = operation.partition ? operation.partition->value() : 0;
    return known[(operation.address + operation.port + partition + operation.service.size()) %
                 kKnownCount];
  }
};

CapsuleStack::CapsuleStack(CapsuleStackOptions options)
    : options_(std::move(options)), number_(++stack_count) {
  Layers layers;
  if (options_.with_default) {
    StatusOr<std::shared_ptr<Capsule>> capsule = Make(DefaultCapsuleConfig());
    CHECK(capsule.ok()) << capsule.status();
    layers.push_back({*std::move(capsule), {}});
  }
  LeafLock lock(&mutex_);
  layers_ = std::make_shared<const Layers>(std::move(layers));
}

CapsuleStack::~CapsuleStack() {
  LeafLock change(&change_mutex_);
  for (const Layer& layer : Copy()) Retire(layer.capsule);
  for (const auto& capsule : retired_) capsule->StopHelpers();
}

CapsuleStack::LayersOfThread& CapsuleStack::CurrentLayers() const {
  __attribute__((tls_model("initial-exec"))) static thread_local LayersOfThread seen;
  if (seen.stack != number_ || seen.version != version()) {
    LeafLock lock(&mutex_);
    seen.Renew(number_, version(), layers_);
  }
  return seen;
}

CapsuleStack::Layers CapsuleStack::Copy() const {
  LeafLock lock(&mutex_);
  return *layers_;
}

void CapsuleStack::Publish(Layers layers) {
  auto published = std::make_shared<const Layers>(std::move(layers));
  {
    LeafLock lock(&mutex_);
    layers_ = std::move(published);
    version_.fetch_add(1, std::memory_order_release);
  }
  if (options_.on_change) options_.on_change();
}

const CapsuleStack::Layer* CapsuleStack::FindByRules(const Layers& layers,
                                                     const BlockingOperation& operation) {
  const ResourceType type = TypeOf(operation);
  for (const Layer& layer : layers) {
    if (layer.capsule->type() != type) continue;
    if (layer.rules.empty()) return &layer;  // the default capsule
    for (const ClassificationRule& rule : layer.rules) {
      if (rule.Matches(operation)) return &layer;
    }
  }
  return nullptr;
}

const CapsuleStack::Layer* CapsuleStack::FindLayer(LayersOfThread& seen,
                                                   const BlockingOperation& operation) {
  const auto* const network = std::get_if<NetworkOperation>(&operation);
  if (network == nullptr || network->service.empty() || !network->host.empty()) {
    return FindByRules(seen.layers(), operation);
  }
  KnownOperation& known = seen.KnownFor(*network);
  if (!known.Is(*network)) known.Learn(*network, FindByRules(seen.layers(), operation));
  return known.layer;
}

std::shared_ptr<Capsule> CapsuleStack::Find(const BlockingOperation& operation) const {
  const Layer* const layer = FindLayer(CurrentLayers(), operation);
  return layer == nullptr ? nullptr : layer->capsule;
}

CapsuleStack::Use CapsuleStack::FindForUse(const BlockingOperation& operation) const {
  LayersOfThread& seen = CurrentLayers();
  const Layer* const layer = FindLayer(seen, operation);
  return {layer == nullptr ? nullptr : layer->capsule.get(), seen.snapshot};
}

std::shared_ptr<Capsule> CapsuleStack::Named(std::string_view name) const {
  for (const Layer& layer : CurrentLayers().layers()) {
    if (layer.capsule->name() == name) return layer.capsule;
  }
  return nullptr;
}

CapsuleStack::Use CapsuleStack::NamedForUse(std::string_view name) const {
  return {Named(name).get(), CurrentLayers().snapshot};
}

std::shared_ptr<Capsule> CapsuleStack::Use::Share() const {
  if (capsule_ == nullptr) return nullptr;
  const auto is_it = [this](const Layer& layer) { return layer.capsule.get() == capsule_; };
  return std::find_if(snapshot_->layers->begin(), snapshot_->layers->end(), is_it)->capsule;
}

StatusOr<std::shared_ptr<Capsule>> CapsuleStack::Make(const CapsuleConfig& config) const {
  NEPTUNE_RETURN_IF_ERROR(CheckCapsuleConfig(config));
  if (config.name == kDefaultCapsule && !options_.with_default) {
    return InvalidArgument("this stack is made without the capsule 'default'");
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto policy, MakePolicy(config));
  std::unique_ptr<HelperThreads> helpers;
  if (config.type == ResourceType::kDevice && options_.make_helpers) {
    helpers = options_.make_helpers(HelperName(config.name),
                                    static_cast<int>(ProcessingCountMax(config)));
  }
  return std::make_shared<Capsule>(config, std::move(policy), std::move(helpers));
}

StatusOr<CapsuleStack::Plan> CapsuleStack::PlanChange(Layer* layer, const CapsuleConfig& config) {
  NEPTUNE_RETURN_IF_ERROR(CheckCapsuleConfig(config));
  if (layer->capsule->type() != config.type) {
    return InvalidArgument("capsule '", config.name, "' cannot change its type");
  }
  NEPTUNE_ASSIGN_OR_RETURN(auto policy, MakePolicy(config));
  layer->rules = config.rules;
  return Plan{layer->capsule, &config, std::move(policy)};
}

Status CapsuleStack::Load(const std::vector<CapsuleConfig>& configs) {
  LeafLock change(&change_mutex_);
  Layers layers = Copy();
  Layers added;
  std::vector<Plan> plans;
  std::set<std::string_view> names;
  for (const CapsuleConfig& config : configs) {
    if (!names.insert(config.name).second) {
      return InvalidArgument("capsule '", config.name, "' is defined twice");
    }
    const auto present = FindNamed(layers, config.name);
    if (present == layers.end()) {
      NEPTUNE_ASSIGN_OR_RETURN(auto capsule, Make(config));
      added.push_back({std::move(capsule), config.rules});
    } else {
      NEPTUNE_ASSIGN_OR_RETURN(Plan plan, PlanChange(&*present, config));
      plans.push_back(std::move(plan));
    }
  }
  layers.insert(layers.begin(), added.begin(), added.end());
  if (layers.size() > kCapsuleCountMax) {
    return ResourceExhausted("more than ", kCapsuleCountMax, " capsules");
  }
  for (const CapsuleConfig& config : configs) {
    NEPTUNE_RETURN_IF_ERROR(CheckTarget(layers, config));
  }
  for (Plan& plan : plans) plan.capsule->Change(*plan.config, std::move(plan.policy), Now());
  Publish(std::move(layers));
  return OkStatus();
}

// The migration target must exist now; it may be destroyed later.
Status CapsuleStack::CheckTarget(const Layers& layers, const CapsuleConfig& config) {
  if (config.migrate_to.empty()) return OkStatus();
  for (const Layer& layer : layers) {
    if (layer.capsule->name() == config.migrate_to && layer.capsule->type() == config.type) {
      return OkStatus();
    }
  }
  return NotFound("capsule '", config.name, "' migrates to '", config.migrate_to,
                  "', which does not exist or has another type");
}

CapsuleStack::Layers::iterator CapsuleStack::FindNamed(Layers& layers, std::string_view name) {
  return std::find_if(layers.begin(), layers.end(),
                      [&](const Layer& layer) { return layer.capsule->name() == name; });
}

Status CapsuleStack::Create(const CapsuleConfig& config, std::string_view above) {
  LeafLock change(&change_mutex_);
  Layers layers = Copy();
  if (FindNamed(layers, config.name) != layers.end()) {
    return FailedPrecondition("capsule '", config.name, "' exists already");
  }
  if (layers.size() >= kCapsuleCountMax) {
    return ResourceExhausted("there are ", kCapsuleCountMax, " capsules already");
  }
  const auto place = above.empty() ? layers.begin() : FindNamed(layers, above);
  if (!above.empty() && place == layers.end()) {
    return NotFound("no capsule '", above, "' to place the new one above");
  }
  NEPTUNE_RETURN_IF_ERROR(CheckTarget(layers, config));
  NEPTUNE_ASSIGN_OR_RETURN(auto capsule, Make(config));
  layers.insert(place, {std::move(capsule), config.rules});
  Publish(std::move(layers));
  return OkStatus();
}

Status CapsuleStack::Change(const CapsuleConfig& config) {
  LeafLock change(&change_mutex_);
  Layers layers = Copy();
  const auto place = FindNamed(layers, config.name);
  if (place == layers.end()) return NotFound("no capsule '", config.name, "'");
  NEPTUNE_ASSIGN_OR_RETURN(Plan plan, PlanChange(&*place, config));
  NEPTUNE_RETURN_IF_ERROR(CheckTarget(layers, config));
  plan.capsule->Change(config, std::move(plan.policy), Now());
  Publish(std::move(layers));
  return OkStatus();
}

Status CapsuleStack::Destroy(std::string_view name) {
  if (name == kDefaultCapsule) {
    return FailedPrecondition(
        "the default capsule cannot be destroyed: it takes what no other capsule takes");
  }
  LeafLock change(&change_mutex_);
  Layers layers = Copy();
  const auto place = FindNamed(layers, name);
  if (place == layers.end()) return NotFound("no capsule '", name, "'");
  std::shared_ptr<Capsule> capsule = std::move(place->capsule);
  layers.erase(place);
  Publish(std::move(layers));
  Retire(std::move(capsule));
  return OkStatus();
}

// Does not wait for helper threads that run calls: those of an empty capsule are stopped now,
// others at a later change.
void CapsuleStack::Retire(std::shared_ptr<Capsule> capsule) {
  capsule->Close();
  retired_.push_back(std::move(capsule));
  std::erase_if(retired_, [](const std::shared_ptr<Capsule>& retired) {
    if (!retired->empty()) return false;
    retired->StopHelpers();
    return true;
  });
}

std::vector<std::shared_ptr<Capsule>> CapsuleStack::All() const {
  std::vector<std::shared_ptr<Capsule>> capsules;
  for (const Layer& layer : Copy()) capsules.push_back(layer.capsule);
  return capsules;
}

std::vector<CapsuleReport> CapsuleStack::Inspect(TimePoint now) const {
  std::vector<CapsuleReport> reports;
  for (const Layer& layer : Copy()) {
    reports.push_back({layer.capsule->config(), layer.capsule->Inspect(now)});
  }
  return reports;
}

}  // namespace neptune
