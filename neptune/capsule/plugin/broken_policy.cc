// A policy plug-in for tests: first come first served, except for the fault its parameter selects.
//
//   throw_in_create, throw_in_destroy, throw_in_arrive, throw_in_wait, throw_in_forget,
//     throw_in_next: that function throws an exception
//   unknown: next returns a call that does not wait
//   nothing: next never returns a call
//   delay: every call waits 5 ms before it asks for its turn
//   nowhere: every call migrates to a capsule that does not exist

#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

#include "neptune/capsule/policy_plugin_abi.h"

namespace {

struct State {
  std::string wish;
  std::deque<uint64_t> waiting;

  void ThrowIf(const char* where) const {
    if (wish == std::string("throw_in_") + where) throw std::runtime_error(where);
  }
};

State& Of(void* self) { return *static_cast<State*>(self); }

void* Create(const char* parameters, char* error, size_t error_size) {
  auto* const state = new State{parameters, {}};
  if (state->wish == "throw_in_create") {
    delete state;
    throw std::runtime_error("create");
  }
  if (!state->wish.empty()) return state;
  std::strncpy(error, "the parameter must name a fault", error_size);
  delete state;
  return nullptr;
}

void Destroy(void* self) {
  const std::unique_ptr<State> state(&Of(self));
  state->ThrowIf("destroy");
}

void Arrive(void* self, const neptune_capsule_call*, const neptune_capsule_occupancy*,
            neptune_capsule_decision* decision) {
  Of(self).ThrowIf("arrive");
  if (Of(self).wish == "delay") {
    decision->action = NEPTUNE_CAPSULE_DELAY;
    decision->delay_ns = 5'000'000;
  }
  if (Of(self).wish == "nowhere") {
    decision->action = NEPTUNE_CAPSULE_MIGRATE;
    decision->target = "nowhere";
  }
}

void Wait(void* self, const neptune_capsule_call* call) {
  Of(self).ThrowIf("wait");
  Of(self).waiting.push_back(call->id);
}

void Forget(void* self, uint64_t id) {
  Of(self).ThrowIf("forget");
  std::erase(Of(self).waiting, id);
}

uint64_t Next(void* self, const neptune_capsule_occupancy*) {
  State& state = Of(self);
  state.ThrowIf("next");
  if (state.wish == "unknown") return 4711;
  if (state.wish == "nothing" || state.waiting.empty()) return 0;
  const uint64_t id = state.waiting.front();
  state.waiting.pop_front();
  return id;
}

}  // namespace

extern "C" const neptune_capsule_policy* neptune_capsule_policy_get() {
  static const neptune_capsule_policy policy = {
      NEPTUNE_CAPSULE_POLICY_VERSION, "broken", Create, Destroy, Arrive, Wait, Forget, Next};
  return &policy;
}
