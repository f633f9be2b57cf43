#include "tests/chaos/chaos_modules.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/sim/sim_world.h"

namespace neptune::chaos {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kCallerThreadCount = 4;
constexpr Duration kTimeouts[] = {milliseconds(100), milliseconds(500), seconds(3)};
constexpr const char* kMethods[] = {"Echo", "Echo", "Quick", "Quick", "Write", "Relay", "Linger"};
constexpr int kBurstOneIn = 300;
constexpr int kBugOneIn = 50;

// The time between the release of a place and its next use.
constexpr Duration kHandOverMax = milliseconds(1);

// Ends the execution's record even if the method throws.
class Running {
 public:
  Running(ChaosState& state, Execution execution)
      : calls_(state.calls), token_(calls_.BeginExecution(std::move(execution))) {}
  ~Running() { calls_.EndExecution(token_); }

 private:
  CallLog& calls_;
  const uint64_t token_;
};

// Makes one call and records it.
Status MakeCall(ChaosState& state, const std::string& host, Client& client, CallRecord plan) {
  plan.caller = host;
  plan.begin = this_thread::Now();
  CallRecord& call = state.calls.Begin(std::move(plan));
  ClientSession session(client);
  CallReport report;
  Data response;
  const AccessMode access = call.write ? AccessMode::kWrite : AccessMode::kRead;
  call.status = Call(
      session, {ServiceName("echo"), PartitionId(call.partition), MethodName(call.method), access},
      Data(StrCat(call.id)), &response, {.deadline = call.deadline}, &report);
  call.reply = response.bytes();
  call.server = report.server.value();
  state.calls.End(call, this_thread::Now());
  if (!call.abandoned) state.on_ended(call);
  return call.status;
}

class ServerModule final : public ServiceModule {
 public:
  explicit ServerModule(ChaosState* state) : state_(*state) {}
  std::string implementation() const override { return "chaos"; }

  Status Start(ModuleContext& context) override {
    host_ = static_cast<SimWorld&>(context.world).name();
    client_ = &context.client;
    state_.pools[host_] = pool_;
    Add(context.registrar, "Echo", {.grain = Grain::kLong}, &ServerModule::Echo);
    Add(context.registrar, "Linger", {.grain = Grain::kLong}, &ServerModule::Linger);
    Add(context.registrar, "Relay", {.grain = Grain::kLong}, &ServerModule::Relay);
    Add(context.registrar, "Quick", {}, &ServerModule::Quick);
    Add(context.registrar, "Write", {.access = AccessMode::kWrite, .stateless = false},
        &ServerModule::Write);
    return OkStatus();
  }
  void Stop() override { stopped_ = true; }

 private:
  using Method = Status (ServerModule::*)(RequestContext&, CallRecord&);

  void Add(ServiceRegistrar& registrar, const std::string& name, const MethodOptions& options,
           Method method) {
    const bool is_long = options.grain == Grain::kLong;
    registrar.Method(MethodName(name), options,
                     [=, this](RequestContext& request, const Data& input, Data* output) {
                       return Serve(request, input, output, method, is_long);
                     });
  }

  Status Serve(RequestContext& request, const Data& input, Data* output, Method method,
               bool is_long) {
    CallRecord* const call = state_.calls.Find(std::stoll(input.bytes()));
    if (call == nullptr) {
      state_.wrong("request of no call", input.bytes());
      return InvalidArgument("no call has the id ", input.bytes());
    }
    if (stopped_) state_.wrong("served after the module's stop", call->ToString());
    if (request.ShouldStop()) state_.wrong("served without a waiting caller", call->ToString());
    if (is_long) BeginWork(/*is_fresh=*/true);
    const Running running(state_, {call->id, host_, this_thread::Now()});
    if (is_long) StandStillWhileHanging();
    latest_ = AnswerTo(*call);
    const Status status = (this->*method)(request, *call);
    if (is_long) pool_->GiveBack(this_thread::Now());
    *output = Data(state_.bug == PlantedBug::kSharedAnswer ? latest_ : AnswerTo(*call));
    return status;
  }

  void BeginWork(bool is_fresh) {
    pool_->Take(this_thread::Now(), is_fresh);
    const size_t count = pool_->taken_count();
    if (count > kConcurrency && state_.hanging.count(host_) == 0) {
      state_.wrong("too many requests at once", StrCat(host_, " runs ", count));
    }
  }

  void StandStillWhileHanging() {
    while (state_.hanging.contains(host_)) {
      if (this_thread::SleepFor(milliseconds(10)) == ParkResult::kStopping) return;
    }
  }

  Status Echo(RequestContext& request, CallRecord&) {
    this_thread::Consume(request.world().processors(), milliseconds(2));
    return OkStatus();
  }

  Status Linger(RequestContext& request, CallRecord&) {
    const TimePoint end = request.Now() + seconds(1);
    const bool ignores_caller = state_.bug == PlantedBug::kIgnoredCancellation;
    while (request.Now() < end && (ignores_caller || !request.ShouldStop())) {
      if (this_thread::SleepFor(milliseconds(10)) == ParkResult::kStopping) break;
    }
    return OkStatus();
  }

  Status Relay(RequestContext& request, CallRecord& outer) {
    CallRecord call;
    call.method = "Echo";
    call.partition = (outer.partition + 1) % kPartitionCount;
    call.deadline = request.deadline();
    pool_->GiveBack(this_thread::Now());  // a waiting request does not count in the pool
    const Status status = MakeCall(state_, host_, *client_, std::move(call));
    BeginWork(/*is_fresh=*/false);
    return status;
  }

  Status Quick(RequestContext&, CallRecord&) { return OkStatus(); }

  Status Write(RequestContext&, CallRecord& call) {
    state_.Insert(call);
    if (state_.bug == PlantedBug::kWriteTwice && call.id % kBugOneIn == 0) state_.Insert(call);
    return OkStatus();
  }

  ChaosState& state_;
  std::string host_;
  Client* client_ = nullptr;
  std::string latest_;
  const std::shared_ptr<PoolUse> pool_ = std::make_shared<PoolUse>();
  bool stopped_ = false;
};

class CallerModule final : public ServiceModule {
 public:
  explicit CallerModule(ChaosState* state) : state_(state) {}
  std::string implementation() const override { return "chaos"; }

  Status Start(ModuleContext& context) override {
    const std::string host = static_cast<SimWorld&>(context.world).name();
    for (int i = 0; i < kCallerThreadCount; ++i) {
      NEPTUNE_RETURN_IF_ERROR(Spawn([state = state_, host, client = &context.client] {
        while (state->calling && !ThreadScheduler::Current()->stopping()) {
          CallSomething(*state, host, *client);
        }
      }));
    }
    return OkStatus();
  }

 private:
  static Status Spawn(Task body) {
    return ThreadScheduler::Current()->Spawn(std::move(body)).status();
  }

  static CallRecord DrawCall(RandomSource& random) {
    CallRecord call;
    call.method = kMethods[random.Below(std::size(kMethods))];
    call.write = call.method == "Write";
    call.partition = static_cast<uint32_t>(random.Below(kPartitionCount));
    call.deadline = this_thread::Now() + kTimeouts[random.Below(std::size(kTimeouts))];
    return call;
  }

  static void CallSomething(ChaosState& state, const std::string& host, Client& client) {
    RandomSource& random = Loop::Current()->random();
    if (this_thread::SleepFor(milliseconds(10 + random.Below(20))) == ParkResult::kStopping) return;
    if (random.Below(kBurstOneIn) == 0) return Burst(state, host, client, DrawCall(random));
    (void)MakeCall(state, host, client, DrawCall(random));
  }

  static void Burst(ChaosState& state, const std::string& host, Client& client,
                    const CallRecord& call) {
    state.last_burst = this_thread::Now();
    for (int i = 0; i < kBurstCallCount; ++i) {
      (void)Spawn([&state, host, &client, call] { (void)MakeCall(state, host, client, call); });
    }
  }

  ChaosState* const state_;
};

}  // namespace

void PoolUse::Take(TimePoint now, bool is_fresh) {
  if (is_fresh) latest_fresh_ = now;
  if (++taken_count_ == kConcurrency && now - full_until_ > kHandOverMax) full_since_ = now;
}

void PoolUse::GiveBack(TimePoint now) {
  if (taken_count_-- == kConcurrency) full_until_ = now;
}

bool PoolUse::NoneWasFree(TimePoint since, TimePoint now) const {
  const bool is_full = taken_count_ >= kConcurrency || now - full_until_ <= kHandOverMax;
  return is_full && full_since_ <= since && latest_fresh_ <= since;
}

void ChaosState::Insert(CallRecord& call) {
  StrAppend(&call.inserted, call.id, ";");
  on_inserted(call);
}

std::string AnswerTo(const CallRecord& call) {
  return StrCat(call.method, "/", call.partition, " answers call ", call.id);
}

ModuleFactory ChaosModules(ChaosState* state) {
  return [state](const std::string& name) -> StatusOr<std::unique_ptr<ServiceModule>> {
    if (name == "server") return std::make_unique<ServerModule>(state);
    if (name == "caller") return std::make_unique<CallerModule>(state);
    return NotFound("no module '", name, "'");
  };
}

}  // namespace neptune::chaos
