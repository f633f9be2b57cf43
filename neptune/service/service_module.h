// The interface of a service module: a class that registers methods and is loaded into a node.
//
// A module is a shared library with one exported entry point (NEPTUNE_SERVICE_MODULE), or the same
// source linked statically in a test. Methods are plain blocking functions that run on user-level
// threads.
//
//   class Echo : public ServiceModule {
//     Status Start(ModuleContext& context) override {
//       context.registrar.Method(MethodName("Echo"), {},
//                                [](RequestContext&, const Data& in, Data* out) {
//                                  *out = in;
//                                  return OkStatus();
//                                });
//       return OkStatus();
//     }
//   };
//   NEPTUNE_SERVICE_MODULE(Echo)
//
// Source: [Shen02] 2.2-2.4 (service modules, registered methods); [Chu03] 3.3, figure 5
//   (operators).
// Threads: Start and Stop run on one user-level thread of the node's first serving loop, where what
//   they spawn runs too; methods run on any serving or worker loop of the node, several at once.
// Errors: a method's status is returned to the caller; an exception becomes kInternal.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/service/data.h"
#include "neptune/service/request_context.h"
#include "neptune/service/server_stream.h"
#include "neptune/wire/access_mode.h"
#include "neptune/world/world.h"

namespace neptune {

class Client;
class ConnectionSlots;
class MemoryBudget;
class ParameterTable;
class Replication;

// Changes whenever a module built for an older runtime would misunderstand this header.
inline constexpr int kModuleInterfaceVersion = 11;

enum class Grain {
  // Runs on the loop that read it, in well under a millisecond, unless requests wait. A method that
  // takes long nevertheless is served by the pool (grain_watch.h).
  kShort,
  kLong,  // runs on the module's pool, at lower priority than the loops
};

struct MethodOptions {
  AccessMode access = AccessMode::kRead;
  Grain grain = Grain::kShort;
  // True if the method only reads and keeps no state between requests. A time limit of the service
  // may then end its requests early.
  bool stateless = true;
  // False if the method never waits: it makes no call, sleeps not, takes no mutex that parks, and
  // consumes no modelled processor time. It then runs in the event handler of its loop, which costs
  // less than a user-level thread. A wait in it ends the program. Only kShort, and no stream.
  bool parks = true;
};

using MethodFunction = std::function<Status(RequestContext&, const Data& request, Data* response)>;

// Serves a stream that `request` opened, until it returns.
using StreamFunction =
    std::function<Status(RequestContext&, const Data& request, ServerStream& stream)>;

// Combines two results of a local operator: commutative and associative, free of side effects.
// `parameters` are the same for every reduction of one call.
using ReduceOperator = std::function<Status(const Data& first, const Data& second,
                                            const Data& parameters, Data* result)>;

// The two ends of a result that is a stream of messages.
class MessageSource {
 public:
  virtual ~MessageSource() = default;
  // Returns the next message, or nullopt at the end of the stream; parks until there is one.
  virtual StatusOr<std::optional<Data>> Read() = 0;
};
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  // Parks while the reader's window is full.
  virtual Status Write(const Data& message) = 0;
};

// Combines two streams into one, on a user-level thread. The operation must be commutative and
// associative in the content of the whole stream. It must return the errors of reads and writes.
using StreamReduceOperator = std::function<Status(MessageSource& first, MessageSource& second,
                                                  const Data& parameters, MessageSink& result)>;

struct ReduceOptions {
  // kShort: runs on the loop where results arrive and must not wait. kLong: runs on the module's
  // pool, ahead of queued requests; at the calling node, on a user-level thread.
  Grain grain = Grain::kShort;
};

// Registers the methods and operators of a module.
class ServiceRegistrar {
 public:
  virtual ~ServiceRegistrar() = default;
  // Registering a name twice, a write that claims to be stateless, or a stream that writes is a
  // bug.
  virtual void Method(const MethodName& name, const MethodOptions& options,
                      MethodFunction function) = 0;
  // Registers a method that is called with OpenStream. It must be read-only (kRead). A kShort
  // stream runs on the loop of its connection and should spend most of its time waiting; a kLong
  // stream runs on a worker loop.
  virtual void Stream(const MethodName& name, const MethodOptions& options,
                      StreamFunction function) = 0;
  // Registers a reduce operator with the node; any aggregation on the node may name it. A service
  // whose methods are local operators must register the matching reduce operator, because its
  // servers reduce.
  virtual void Reduce(const MethodName& name, const ReduceOptions& options,
                      ReduceOperator reduce) = 0;
  void Reduce(const MethodName& name, ReduceOperator reduce) {
    Reduce(name, ReduceOptions(), std::move(reduce));
  }
  // The same for local operators that are streams.
  virtual void ReduceStream(const MethodName& name, StreamReduceOperator reduce) = 0;
};

// Environment passed to ServiceModule::Start. Everything in it outlives the module.
struct ModuleContext {
  NodeId node;  // hosts the module
  ServiceName service;
  // The service's partitions that this node hosts.
  std::vector<PartitionId> partitions;
  // Folder that relative paths in the parameters are resolved against.
  std::string base_directory;
  ServiceRegistrar& registrar;
  Client& client;
  World& world;
  MetricsRegistry& metrics;
  StatusSections& status;
  // Budgets of the node, for modules with servers and logs of their own; null: none.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  std::shared_ptr<ConnectionSlots> connection_slots = nullptr;
  // False while the disk is almost full, and logs must not grow; null: always true.
  std::function<bool()> may_log = nullptr;
  // For modules with an entrance of their own, such as HTTP: how to schedule queued requests, and
  // the service class of each API key, by its ApiKeyHash (neptune/base/same_secret.h).
  SchedulerOptions scheduling = {};
  std::map<std::string, std::string> class_of_api_key_hash = {};
  // Secrets that the nodes of the cluster have in common, for codes on what is kept elsewhere: make
  // codes with the first, accept those of all. Empty without a cluster key; null: the same.
  std::function<std::vector<std::string>(std::string_view purpose)> derive_secrets = nullptr;
  // Replication of partitions across nodes; see neptune/replication.
  Replication* replication = nullptr;
};

class ServiceModule {
 public:
  virtual ~ServiceModule() = default;
  // Declares the parameters that a cluster spec may give; see parameter_table.h. The node sets them
  // before Start and refuses a spec that gives others. Called once, possibly by a program that only
  // checks a spec and never starts the module.
  virtual void DeclareParameters(ParameterTable& table) {}
  // Opens the module's resources and registers its methods. After an error the node does not offer
  // the service.
  virtual Status Start(ModuleContext& context) = 0;
  // Returns OK if the partition can be served now; an unhealthy partition is not announced.
  virtual Status Health(PartitionId partition) { return OkStatus(); }
  // Name of the implementation, shown in answers, announcements and metrics.
  virtual std::string implementation() const = 0;
  // Closes what Start opened. Called when no method runs any more.
  virtual void Stop() {}
};

// Creates the module of that name.
using ModuleFactory =
    std::function<StatusOr<std::unique_ptr<ServiceModule>>(const std::string& module)>;

}  // namespace neptune

// Makes `Type` (default-constructible) the module of this shared library.
#define NEPTUNE_SERVICE_MODULE(Type)                                                         \
  extern "C" __attribute__((visibility("default"))) int neptune_module_interface_version() { \
    return ::neptune::kModuleInterfaceVersion;                                               \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) ::neptune::ServiceModule*                \
  neptune_module_create() {                                                                  \
    return new Type();                                                                       \
  }
