#include "tools/lab/capsules/waiting_inside.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "neptune/capsule/main_pool.h"
#include "neptune/service/service_module.h"

namespace search::lab {
namespace {

using neptune::Data;
using neptune::MainPoolPlace;
using neptune::MethodName;
using neptune::RequestContext;
using neptune::Status;

// Hides the calling thread's place in the pool, so that its waits cannot give it back.
class HiddenPlace {
 public:
  HiddenPlace() : place_(MainPoolPlace::Current()) { MainPoolPlace::SetCurrent(nullptr); }
  ~HiddenPlace() { MainPoolPlace::SetCurrent(place_); }
  HiddenPlace(const HiddenPlace&) = delete;
  HiddenPlace& operator=(const HiddenPlace&) = delete;

 private:
  MainPoolPlace* const place_;
};

// Registers the same methods, which keep their place.
class InsideRegistrar final : public neptune::ServiceRegistrar {
 public:
  explicit InsideRegistrar(neptune::ServiceRegistrar& registrar) : registrar_(registrar) {}

  void Method(const MethodName& name, const neptune::MethodOptions& options,
              neptune::MethodFunction function) override {
    registrar_.Method(name, options,
                      [function = std::move(function)](RequestContext& context, const Data& request,
                                                       Data* response) {
                        const HiddenPlace hidden;
                        return function(context, request, response);
                      });
  }
  void Stream(const MethodName& name, const neptune::MethodOptions& options,
              neptune::StreamFunction function) override {
    registrar_.Stream(name, options, std::move(function));
  }
  using ServiceRegistrar::Reduce;
  void Reduce(const MethodName& name, const neptune::ReduceOptions& options,
              neptune::ReduceOperator reduce) override {
    registrar_.Reduce(name, options, std::move(reduce));
  }
  void ReduceStream(const MethodName& name, neptune::StreamReduceOperator reduce) override {
    registrar_.ReduceStream(name, std::move(reduce));
  }

 private:
  neptune::ServiceRegistrar& registrar_;
};

class InsideModule final : public neptune::ServiceModule {
 public:
  InsideModule(std::unique_ptr<neptune::ServiceModule> module, neptune::ServiceName service)
      : service_(std::move(service)), module_(std::move(module)) {}

  void DeclareParameters(neptune::ParameterTable& table) override {
    module_->DeclareParameters(table);
  }
  Status Start(neptune::ModuleContext& context) override {
    if (context.service != service_) return module_->Start(context);
    registrar_.emplace(context.registrar);
    neptune::ModuleContext inside{
        .node = context.node,
        .service = context.service,
        .partitions = context.partitions,
        .base_directory = context.base_directory,
        .registrar = *registrar_,
        .client = context.client,
        .world = context.world,
        .metrics = context.metrics,
        .status = context.status,
        .scheduling = context.scheduling,
        .class_of_api_key_hash = context.class_of_api_key_hash,
        .derive_secrets = context.derive_secrets,
        .replication = context.replication,
    };
    return module_->Start(inside);
  }
  Status Health(neptune::PartitionId partition) override { return module_->Health(partition); }
  std::string implementation() const override { return module_->implementation(); }
  void Stop() override { module_->Stop(); }

 private:
  const neptune::ServiceName service_;
  std::optional<InsideRegistrar> registrar_;
  std::unique_ptr<neptune::ServiceModule> module_;  // uses registrar_
};

}  // namespace

neptune::ModuleFactory WaitInside(neptune::ModuleFactory modules, neptune::ServiceName service) {
  return
      [modules = std::move(modules), service = std::move(service)](
          const std::string& name) -> neptune::StatusOr<std::unique_ptr<neptune::ServiceModule>> {
        NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<neptune::ServiceModule> module, modules(name));
        return std::make_unique<InsideModule>(std::move(module), service);
      };
}

}  // namespace search::lab
