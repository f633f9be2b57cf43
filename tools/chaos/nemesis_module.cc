#include "tools/chaos/nemesis_module.h"

#include <poll.h>
#include <unistd.h>

#include <charconv>

#include "neptune/thread/user_thread.h"

namespace search::chaos {
namespace {

using neptune::Data;
using neptune::OkStatus;
using neptune::RequestContext;
using neptune::Status;
using neptune::StatusOr;

constexpr int kHangPollMs = 2;

StatusOr<uint64_t> NumberIn(const Data& request, uint64_t max) {
  const std::string text = request.bytes();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) {
    return neptune::InvalidArgument("'", text, "' is not a number up to ", max);
  }
  return value;
}

Status Work(RequestContext& context, const Data& request, Data* response) {
  constexpr uint64_t kMicrosMax = 60'000'000;
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t micros, NumberIn(request, kMicrosMax));
  neptune::this_thread::Consume(context.world().processors(), std::chrono::microseconds(micros));
  *response = request;
  return OkStatus();
}

Status Answer(RequestContext&, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t size, NumberIn(request, kNemesisAnswerSizeMax));
  *response = Data(std::string(size, 'x'));
  return OkStatus();
}

Status Hang(RequestContext&, const Data& request, Data*) {
  const std::string path = request.bytes();
  constexpr auto kPollCountMax = std::chrono::milliseconds(kNemesisHangMax).count() / kHangPollMs;
  for (int64_t i = 0; i < kPollCountMax && access(path.c_str(), F_OK) == 0; ++i) {
    poll(nullptr, 0, kHangPollMs);  // blocks the loop on purpose
  }
  return OkStatus();
}

}  // namespace

Status NemesisModule::Start(neptune::ModuleContext& context) {
  using neptune::Grain;
  using neptune::MethodName;
  neptune::ServiceRegistrar& registrar = context.registrar;
  registrar.Method(MethodName("Echo"), {}, [](RequestContext&, const Data& in, Data* out) {
    *out = in;
    return OkStatus();
  });
  registrar.Method(MethodName("Work"), {.grain = Grain::kLong}, Work);
  registrar.Method(MethodName("Answer"), {}, Answer);
  // One that parks would be served by the pool after some hangs.
  registrar.Method(MethodName("Hang"), {.parks = false}, Hang);
  return OkStatus();
}

}  // namespace search::chaos
