#include "neptune/examples/guestbook/guestbook_module.h"

#include "neptune/base/strings.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {

void GuestbookModule::DeclareParameters(ParameterTable& table) {
  table.RequiredText("host", &database_.host, "host of the database");
  table.RequiredWhole("port", {1, UINT16_MAX}, &database_.port, "port of the database");
}

Status GuestbookModule::Start(ModuleContext& context) {
  context.registrar.Method(
      MethodName(kSign), {.access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false},
      [this](RequestContext&, const Data& request, Data* response) -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(const uint64_t count, Sign(database_, request.bytes()));
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
