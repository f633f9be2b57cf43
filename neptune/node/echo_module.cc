#include "neptune/node/echo_module.h"

#include <charconv>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

StatusOr<uint64_t> ParseNumber(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("'", text, "' is not a number");
  }
  return value;
}

Status Work(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t micros, ParseNumber(request.bytes()));
  this_thread::Consume(context.world().processors(), std::chrono::microseconds(micros));
  *response = request;
  return OkStatus();
}

Status EchoMessages(RequestContext&, const Data&, ServerStream& stream) {
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::optional<Data> message, stream.Read());
    if (!message) return OkStatus();
    NEPTUNE_RETURN_IF_ERROR(stream.Write(*message));
  }
}

Status CountUp(RequestContext&, const Data& request, ServerStream& stream) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t count, ParseNumber(request.bytes()));
  for (uint64_t i = 0; i < count; ++i) NEPTUNE_RETURN_IF_ERROR(stream.Write(Data(StrCat(i))));
  return OkStatus();
}

Status AddNumbers(const Data& first, const Data& second, const Data&, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t a, ParseNumber(first.bytes()));
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t b, ParseNumber(second.bytes()));
  *result = Data(StrCat(a + b));
  return OkStatus();
}

}  // namespace

Status EchoModule::Start(ModuleContext& context) {
  ServiceRegistrar& registrar = context.registrar;
  registrar.Method(MethodName("Echo"), {.parks = false},
                   [](RequestContext&, const Data& request, Data* response) {
                     *response = request;
                     return OkStatus();
                   });
  registrar.Method(MethodName("Fail"), {}, [](RequestContext&, const Data& request, Data*) {
    return Internal("asked to fail: ", request.bytes());
  });
  registrar.Method(MethodName("Work"), {.grain = Grain::kLong}, Work);
  registrar.Method(MethodName("Sum"), {}, [](RequestContext& request, const Data&, Data* response) {
    *response = Data(StrCat(request.partition()));
    return OkStatus();
  });
  registrar.Stream(MethodName("EchoMessages"), {}, EchoMessages);
  registrar.Stream(MethodName("CountUp"), {.grain = Grain::kLong}, CountUp);
  registrar.Reduce(MethodName("AddNumbers"), AddNumbers);
  return OkStatus();
}

}  // namespace neptune
