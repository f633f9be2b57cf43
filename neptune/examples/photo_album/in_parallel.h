// Runs several blocking tasks of a method in parallel.
//
// Source: [Shen02] 2.1 (a service that asks several others).
// Threads: on a user-level thread; each task runs on a new one, on the same kernel thread.
// Errors: none; if no thread can be started for a task, it runs on the caller's.
// Limits: returns when all tasks have ended, so each must end by a deadline.

#pragma once

#include <functional>
#include <vector>

namespace neptune::examples::photo_album {

// The caller does not occupy a slot of its service's pool meanwhile.
void RunInParallel(const std::vector<std::function<void()>>& tasks);

}  // namespace neptune::examples::photo_album
