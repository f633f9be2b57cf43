// Signs the guestbook of a running cluster many times concurrently, requests greetings meanwhile,
// and prints the latencies of both.

#include <gflags/gflags.h>

#include <utility>
#include <vector>

#include "neptune/examples/client/example_client.h"
#include "neptune/examples/client/outcomes.h"
#include "neptune/examples/guestbook/guestbook_module.h"

DEFINE_string(spec, "neptune/examples/guestbook/redis.textproto", "spec of the running cluster");
DEFINE_int32(sign, 50, "number of concurrent Sign calls");
DEFINE_int32(greet, 500, "number of sequential Greet calls");
DEFINE_string(name, "ada", "name to sign with");

namespace {

using neptune::Status;
using neptune::examples::Outcomes;

void Ask(neptune::ClientSession& session, const char* method, neptune::AccessMode access,
         Outcomes* outcomes) {
  const neptune::TimePoint begin = neptune::this_thread::Now();
  neptune::Data answer;
  const Status status =
      neptune::Call(session,
                    {neptune::ServiceName(neptune::examples::kGuestbook), neptune::PartitionId(0),
                     neptune::MethodName(method), access},
                    neptune::Data(FLAGS_name), &answer);
  outcomes->Note(status, answer, neptune::this_thread::Now() - begin);
}

Status SignAndGreet(neptune::ClientSession& session, uint32_t) {
  Outcomes signed_in;
  Outcomes greeted;
  std::vector<neptune::ThreadRef> visitors;
  neptune::ThreadScheduler& scheduler = *neptune::ThreadScheduler::Current();
  for (int i = 0; i < FLAGS_sign; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(neptune::ThreadRef visitor, scheduler.Spawn([&] {
      Ask(session, neptune::examples::kSign, neptune::AccessMode::kWrite, &signed_in);
    }));
    visitors.push_back(std::move(visitor));
  }
  neptune::this_thread::Yield();
  for (int i = 0; i < FLAGS_greet; ++i) {
    Ask(session, neptune::examples::kGreet, neptune::AccessMode::kRead, &greeted);
  }
  for (const neptune::ThreadRef& visitor : visitors) {
    (void)scheduler.Join(*visitor.get(), neptune::kNever);
  }
  signed_in.Print("signed");
  greeted.Print("greeted meanwhile");
  return neptune::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "signs the guestbook of a running cluster",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName(neptune::examples::kGuestbook),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask = SignAndGreet});
}
