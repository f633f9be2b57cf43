// A second version of the index tier's module, which says so: for several versions in one cluster.

#include "index/tier/service/tier_module.h"

namespace {

class SecondIndexModule final : public neptune::ServiceModule {
 public:
  void DeclareParameters(neptune::ParameterTable& table) override {
    first_.DeclareParameters(table);
  }
  neptune::Status Start(neptune::ModuleContext& context) override { return first_.Start(context); }
  neptune::Status Health(neptune::PartitionId partition) override {
    return first_.Health(partition);
  }
  std::string implementation() const override { return first_.implementation() + " (second)"; }
  void Stop() override { first_.Stop(); }

 private:
  search::index::TierModule first_;
};

}  // namespace

NEPTUNE_SERVICE_MODULE(SecondIndexModule)
