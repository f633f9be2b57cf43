// Detects a process forked by one with user-level threads: it has a single, plain thread and shares
// its parent's pollers, which it must not touch.
//
// Threads: thread-safe.

#pragma once

namespace neptune::interpose {

// Must be called before the first user-level thread; later forks are then detected. Idempotent.
void NoticeForks();
bool IsForkedChild();

}  // namespace neptune::interpose
