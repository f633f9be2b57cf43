// What a service programmer writes: a module that registers methods, loaded into a node.
//
// A module is a shared library with one exported entry point (NEPTUNE_SERVICE_MODULE), or the same
// source linked statically in a test. Methods are plain blocking functions that run on user-level
// threads.
//
//   class Echo : public ServiceModule {
//     Status Start(ModuleContext& context) override {
//       context.registrar.Method(MethodName("Echo"), {}, [](RequestContext&, const Data& in, Data*
//       out) {
//         *out = in;
//         return OkStatus();
//       });
//       return OkStatus();
//     }
//   };
//   NEPTUNE_SERVICE_MODULE(Echo)
//
// Source: [Shen02] 2.2-2.4 (service modules, registered methods); [Chu03] 3.3, figure 5
// (operators). Threads: Start and Stop on the node's main thread; methods on any
// loop of the node, several at once. Errors: a method's status travels to the caller; an exception
// becomes kInternal.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/scheduler_options.h"
#include "neptune/sert/time_limit.h"
#include "neptune/service/data.h"
#include "neptune/service/server_stream.h"
#include "neptune/wire/frame.h"
#include "neptune/wire/server_connection.h"
#include "neptune/world/world.h"

namespace neptune {

class Client;
class Replication;

// Changes whenever a module built for an older runtime would misunderstand this header.
inline constexpr int kModuleInterfaceVersion = 6;

enum class Grain {
  kShort,  // runs on the loop that read it, in well under a millisecond, unless requests wait
  kLong,   // runs on the module's pool, at lower priority than the loops
};

struct MethodOptions {
  AccessMode access = AccessMode::kRead;
  Grain grain = Grain::kShort;
  // Reads only, and keeps nothing between requests: may be ended early where the service limits requests' time.
  bool stateless = true;
};

// What calls on behalf of a request say of their origin.
struct RequestOrigin {
  // The method that serves it, as a number that tells methods of a node apart.
  uint64_t handler = 0;
  // See RequestHeader.
  bool retried = false;
  std::chrono::microseconds waited{0};
};

// What a method knows of the request it serves.
class RequestContext {
 public:
  RequestContext(PartitionId partition, TimePoint deadline, std::string service_class,
                 const TraceContext& trace, std::shared_ptr<IncomingCall> call, World& world,
                 const RequestOrigin& origin = {})
      : partition_(partition),
        deadline_(deadline),
        service_class_(std::move(service_class)),
        trace_(trace),
        call_(std::move(call)),
        world_(world),
        origin_(origin) {}

  PartitionId partition() const { return partition_; }
  TimePoint deadline() const { return deadline_; }
  const std::string& service_class() const { return service_class_; }
  // Of this request: the parent of what the method calls on its behalf.
  const TraceContext& trace() const { return trace_; }
  World& world() const { return world_; }
  const RequestOrigin& origin() const { return origin_; }
  // Bytes of a higher layer that came with the request, and those that go with its answer.
  const std::string& extension() const { return extension_; }
  const std::string& answer_extension() const { return answer_extension_; }
  void set_extension(std::string bytes) { extension_ = std::move(bytes); }
  void set_answer_extension(std::string bytes) { answer_extension_ = std::move(bytes); }
  TimePoint Now() const;
  // Nobody waits for the answer any more: the caller cancelled or is gone, or the deadline passed. Or the service has
  // no more time for it, which is needed for others: then what there is of the answer is worth giving.
  bool ShouldStop() const {
    if (call_ != nullptr && call_->cancelled()) return true;
    const TimePoint now = Now();
    return now >= deadline_ || (limited_ != nullptr && limited_->Over(now));
  }
  // The request was told to stop because it has taken all the time that the service has for one.
  bool ended_early() const { return limited_ != nullptr && limited_->over(); }
  // The host's own, before the method runs.
  void SetLimited(const LimitedRequest* limited) { limited_ = limited; }
  // Parks until `when`, or until nobody waits for the answer any more.
  // Errors: kCancelled the caller is gone, or the node stops; kDeadlineExceeded.
  Status SleepUntil(TimePoint when) const;
  // What tells of the caller's cancellation; may be null. ClientSession hands it down.
  const std::shared_ptr<IncomingCall>& call() const { return call_; }

 private:
  const PartitionId partition_;
  const TimePoint deadline_;
  const std::string service_class_;
  const TraceContext trace_;
  const std::shared_ptr<IncomingCall> call_;
  World& world_;
  const RequestOrigin origin_;
  std::string extension_;
  std::string answer_extension_;
  const LimitedRequest* limited_ = nullptr;
};

using MethodFunction = std::function<Status(RequestContext&, const Data& request, Data* response)>;

// Serves a stream that `request` opened, until it returns.
using StreamFunction =
    std::function<Status(RequestContext&, const Data& request, ServerStream& stream)>;

// Combines two results of a local operator: commutative and associative, free of side effects.
// `parameters` are the same for every reduction of one call.
using ReduceOperator = std::function<Status(const Data& first, const Data& second,
                                            const Data& parameters, Data* result)>;

// Results that are streams of messages: what reads one, and what takes one.
class MessageSource {
 public:
  virtual ~MessageSource() = default;
  // The next message; parks until it comes. nullopt: the stream has ended.
  virtual StatusOr<std::optional<Data>> Read() = 0;
};
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  // Parks while the reader is behind.
  virtual Status Write(const Data& message) = 0;
};

// Combines two streams into one, on a user-level thread: commutative and associative in what the whole stream
// means. Errors of reads and writes are to be returned.
using StreamReduceOperator = std::function<Status(MessageSource& first, MessageSource& second,
                                                  const Data& parameters, MessageSink& result)>;

struct ReduceOptions {
  // kShort: runs on the loop where results arrive and must not wait. kLong: runs on the module's pool, before
  // requests that wait; on a caller, on a user-level thread.
  Grain grain = Grain::kShort;
};

// Where a module says what it offers.
class ServiceRegistrar {
 public:
  virtual ~ServiceRegistrar() = default;
  // A name registered twice, a write that claims to be stateless, or a stream that writes is a bug.
  virtual void Method(const MethodName& name, const MethodOptions& options,
                      MethodFunction function) = 0;
  // A method that is called with OpenStream. It reads: access is kRead. A kShort one runs on the loop
  // of its connection and waits most of its time, a kLong one on a worker loop.
  virtual void Stream(const MethodName& name, const MethodOptions& options,
                      StreamFunction function) = 0;
  // Reduce operators belong to the node: any aggregation on it may name them. A service whose methods are
  // local operators registers the reduce operator that goes with them, since its servers reduce.
  virtual void Reduce(const MethodName& name, const ReduceOptions& options,
                      ReduceOperator reduce) = 0;
  void Reduce(const MethodName& name, ReduceOperator reduce) {
    Reduce(name, ReduceOptions(), std::move(reduce));
  }
  // For local operators that are streams.
  virtual void ReduceStream(const MethodName& name, StreamReduceOperator reduce) = 0;
};

// What a module gets when it starts. Everything in it outlives the module.
struct ModuleContext {
  NodeId node;  // that hosts it
  ServiceName service;
  // The share of the service's data that this node holds.
  std::vector<PartitionId> partitions;
  // Parameters of the service in the cluster spec.
  std::map<std::string, std::string> parameters;
  // Folder that relative paths of parameters start from.
  std::string base_directory;
  ServiceRegistrar& registrar;
  Client& client;
  World& world;
  MetricsRegistry& metrics;
  StatusSections& status;
  // For modules that take requests by ways of their own: how what waits is to be served, and the class of each API key.
  SchedulerOptions scheduling = {};
  std::map<std::string, std::string> class_of_api_key = {};
  // The node's part in keeping partitions on several nodes; see neptune/replication.
  Replication* replication = nullptr;
};

class ServiceModule {
 public:
  virtual ~ServiceModule() = default;
  // Opens what the module needs and registers its methods. After an error the node does not offer
  // the service.
  virtual Status Start(ModuleContext& context) = 0;
  // Whether one of its partitions can be served now; an unhealthy one is not announced.
  virtual Status Health(PartitionId partition) { return OkStatus(); }
  // Name of the implementation, for answers, announcements and metrics.
  virtual std::string implementation() const = 0;
  // No method runs any more. Closes what Start opened.
  virtual void Stop() {}
};

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
