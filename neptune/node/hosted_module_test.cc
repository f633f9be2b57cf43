// Parameters of hosted modules: set before the start, refused when a spec is checked.

#include "neptune/node/hosted_module.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "neptune/base/strings.h"
#include "neptune/service/parameter_table.h"

namespace neptune {
namespace {

class SizedModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override {
    table.Whole("size_mb", {1, 100}, &size_mb_, "size in MiB");
  }
  Status Start(ModuleContext&) override { return OkStatus(); }
  std::string implementation() const override { return StrCat(size_mb_); }

 private:
  uint32_t size_mb_ = 64;
};

StatusOr<std::unique_ptr<ServiceModule>> Modules(const std::string& name) {
  if (name == "sized") return std::make_unique<SizedModule>();
  if (name == "crashing") std::raise(SIGKILL);
  if (name == "exiting") std::_Exit(0);
  return NotFound("no module ", name);
}

// A spec of two nodes; `service` and `hosted` are further fields.
ClusterSpec SpecOf(const std::string& service, const std::string& hosted) {
  return ParseClusterSpec(StrCat("name: 'c' multicast_group: '239.1.1.1:7000' "
                                 "services { name: 'store' module: 'sized' ",
                                 service,
                                 " } nodes { name: 'a' hosts { service: 'store' } } "
                                 "nodes { name: 'b' hosts { service: 'store' ",
                                 hosted, " } }"),
                          "test")
      .value();
}

std::string Size(const std::string& text) {
  return StrCat("parameters { key: 'size_mb' value: '", text, "' }");
}

Status Check(const ClusterSpec& spec) { return CheckModules(spec, Modules); }

TEST(HostedModuleTest, ANodesParameterOverridesTheServices) {
  const ClusterSpec spec = SpecOf(Size("7"), Size("9"));
  EXPECT_EQ(MakeHostedModule(spec, spec.nodes(0).hosts(0), Modules).value()->implementation(), "7");
  EXPECT_EQ(MakeHostedModule(spec, spec.nodes(1).hosts(0), Modules).value()->implementation(), "9");
}

TEST(HostedModuleTest, ARefusalNamesTheServiceAndTheLimit) {
  const ClusterSpec spec = SpecOf(Size("101"), "");
  EXPECT_EQ(
      MakeHostedModule(spec, spec.nodes(0).hosts(0), Modules).status(),
      InvalidArgument("service 'store': parameter size_mb is '101'; it must be a whole number "
                      "from 1 to 100"));
}

TEST(CheckModulesTest, AcceptsASpecWithValidParameters) {
  EXPECT_TRUE(Check(SpecOf(Size("1"), Size("100"))).ok());
}

TEST(CheckModulesTest, FindsTheServiceOfAnyNode) {
  EXPECT_EQ(Check(SpecOf("", Size("0"))),
            InvalidArgument("node 'b': service 'store': parameter size_mb is '0'; it must be a "
                            "whole number from 1 to 100"));
  EXPECT_EQ(Check(SpecOf("", "parameters { key: 'sizemb' value: '1' }")),
            InvalidArgument("node 'b': service 'store': unknown parameter 'sizemb'; its module has "
                            "size_mb"));
}

TEST(CheckModulesTest, AModuleThatIsNotHereIsNotFound) {
  EXPECT_EQ(Check(SpecOf("", "module: 'elsewhere'")).code(), StatusCode::kNotFound);
}

TEST(CheckModulesTest, AModuleThatEndsTheProcessIsNotFound) {
  EXPECT_EQ(Check(SpecOf("", "module: 'crashing'")),
            NotFound("module 'crashing': loading it ended the process with signal 9"));
  EXPECT_EQ(Check(SpecOf("", "module: 'exiting'")),
            NotFound("module 'exiting': loading it ended the process with status 0"));
}

}  // namespace
}  // namespace neptune
