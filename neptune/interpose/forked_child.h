// Whether this process is a child that a process with user-level threads has forked: it has one thread, which is a plain
// one, and shares its parent's pollers, of which it must not touch anything.
//
// Threads: thread-safe.

#pragma once

namespace neptune::interpose {

// Before the first user-level thread; idempotent. Forks that come later are noticed.
void NoticeForks();
bool IsForkedChild();

}  // namespace neptune::interpose
