// Calls a method of a running cluster with plain bytes, any number of times concurrently, and
// prints the outcomes.

#include <gflags/gflags.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "neptune/examples/client/example_client.h"
#include "neptune/examples/client/outcomes.h"

DEFINE_string(spec, "", "spec of the running cluster");
DEFINE_string(service, "", "service to call");
DEFINE_uint32(partition, 0, "partition to call");
DEFINE_string(method, "", "method to call");
DEFINE_bool(write, false, "the method is a write; only reads are retried");
DEFINE_string(request, "", "request bytes");
DEFINE_int32(count, 1, "number of concurrent calls");

namespace {

constexpr char kUsage[] = "calls a method of a running cluster";

using neptune::Status;
using neptune::examples::Outcomes;

void CallOnce(neptune::ClientSession& session, Outcomes* outcomes) {
  const neptune::TimePoint begin = neptune::this_thread::Now();
  neptune::Data answer;
  const Status status =
      neptune::Call(session,
                    {neptune::ServiceName(FLAGS_service), neptune::PartitionId(FLAGS_partition),
                     neptune::MethodName(FLAGS_method),
                     FLAGS_write ? neptune::AccessMode::kWrite : neptune::AccessMode::kRead},
                    neptune::Data(FLAGS_request), &answer);
  outcomes->Note(status, answer, neptune::this_thread::Now() - begin);
}

Status CallAtOnce(neptune::ClientSession& session, uint32_t) {
  Outcomes outcomes;
  neptune::ThreadScheduler& scheduler = *neptune::ThreadScheduler::Current();
  std::vector<neptune::ThreadRef> callers;
  for (int i = 0; i < FLAGS_count; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(neptune::ThreadRef caller,
                             scheduler.Spawn([&] { CallOnce(session, &outcomes); }));
    callers.push_back(std::move(caller));
  }
  for (const neptune::ThreadRef& caller : callers) {
    (void)scheduler.Join(*caller.get(), neptune::kNever);
  }
  outcomes.Print(FLAGS_method.c_str());
  return neptune::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  gflags::SetUsageMessage(kUsage);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (FLAGS_spec.empty() || FLAGS_service.empty() || FLAGS_method.empty()) {
    std::fprintf(stderr, "call: --spec, --service and --method are required\n");
    return 2;
  }
  return neptune::examples::RunExampleClient(&argc, &argv,
                                             {.usage = kUsage,
                                              .spec = &FLAGS_spec,
                                              .service = neptune::ServiceName(FLAGS_service),
                                              .register_operators = [](neptune::ModuleContext&) {},
                                              .ask = CallAtOnce});
}
