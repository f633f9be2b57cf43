#include "neptune/examples/guestbook/guestbook_module.h"

#include "neptune/base/strings.h"
#include "neptune/examples/parameters/number_parameter.h"

namespace neptune::examples {
namespace {

StatusOr<DatabaseAddress> AddressOf(const ModuleContext& context) {
  const auto host = context.parameters.find("host");
  if (host == context.parameters.end()) return InvalidArgument("parameter host is missing");
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t port,
                           NumberParameter(context, "port", {.least = 1, .most = UINT16_MAX}));
  if (port == 0) return InvalidArgument("parameter port is missing");
  return DatabaseAddress{host->second, static_cast<uint16_t>(port)};
}

}  // namespace

Status GuestbookModule::Start(ModuleContext& context) {
  NEPTUNE_ASSIGN_OR_RETURN(const DatabaseAddress database, AddressOf(context));
  context.registrar.Method(
      MethodName(kSign), {.access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false},
      [this, database](RequestContext&, const Data& request, Data* response) -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(const uint64_t count, Sign(database, request.bytes()));
        *response = Data(StrCat(request.bytes(), " has signed ", count, " times"));
        return OkStatus();
      });
  context.registrar.Method(MethodName(kGreet), {.grain = Grain::kLong},
                           [](RequestContext&, const Data& request, Data* response) {
                             *response = Data(StrCat("hello, ", request.bytes()));
                             return OkStatus();
                           });
  return OkStatus();
}

}  // namespace neptune::examples
