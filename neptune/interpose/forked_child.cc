#include "neptune/interpose/forked_child.h"

#include <pthread.h>

#include <atomic>

namespace neptune::interpose {
namespace {

std::atomic<bool> is_forked_child{false};

bool Register() {
  pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true, std::memory_order_relaxed); });
  return true;
}

}  // namespace

void NoticeForks() { [[maybe_unused]] static const bool registered = Register(); }

bool IsForkedChild() { return is_forked_child.load(std::memory_order_relaxed); }

}  // namespace neptune::interpose
