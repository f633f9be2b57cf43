/* A policy plug-in for tests that lacks the callback `next`. */

#include <stddef.h>

#include "neptune/capsule/policy_plugin_abi.h"

static void* create(const char* parameters, char* error, size_t error_size) {
  (void)parameters;
  (void)error_size;
  return error;
}
static void destroy(void* state) { (void)state; }
static void arrive(void* state, const neptune_capsule_call* call,
                   const neptune_capsule_occupancy* now, neptune_capsule_decision* decision) {
  (void)state;
  (void)call;
  (void)now;
  (void)decision;
}
static void wait_turn(void* state, const neptune_capsule_call* call) {
  (void)state;
  (void)call;
}
static void forget(void* state, uint64_t id) {
  (void)state;
  (void)id;
}

const neptune_capsule_policy* neptune_capsule_policy_get(void);
const neptune_capsule_policy* neptune_capsule_policy_get(void) {
  static const neptune_capsule_policy policy = {
      NEPTUNE_CAPSULE_POLICY_VERSION, "lacking", create, destroy, arrive, wait_turn, forget, NULL};
  return &policy;
}
