// Several things that wait, done at once by a method.
//
// Source: [Shen02] 2.1 (a service that asks several others).
// Threads: on a user-level thread; each task on one of its own, on the same kernel thread.
// Errors: none; a task for which there is no thread is done by the caller's.
// Limits: returns when all tasks have: each is to end by a deadline of its own.

#pragma once

#include <functional>
#include <vector>

namespace neptune::examples::photo_album {

// Meanwhile the caller has no place in its service's pool.
void RunInParallel(const std::vector<std::function<void()>>& tasks);

}  // namespace neptune::examples::photo_album
