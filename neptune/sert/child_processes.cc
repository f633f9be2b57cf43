#include "neptune/sert/child_processes.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

extern char** environ;

namespace neptune::sert {
namespace {

// All that were noted and not forgotten, under a lock for a few instructions. Never destroyed: streams may be closed
// after main.
class Children {
 public:
  Children() {
    while (locked_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Children() { locked_.store(false, std::memory_order_release); }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  LedgerList<PopenChild>& list() {
    static LedgerList<PopenChild>* const list = new (place_) LedgerList<PopenChild>();
    return *list;
  }

 private:
  alignas(LedgerList<PopenChild>) static unsigned char place_[sizeof(LedgerList<PopenChild>)];
  static std::atomic<bool> locked_;
};
alignas(LedgerList<PopenChild>) unsigned char Children::place_[];
constinit std::atomic<bool> Children::locked_{false};

// Of one process to be made.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// errno, or 0.
int Spawn(const char* command, int fd, int target, pid_t* id) {
  SpawnSetup setup;
  if (const int error = posix_spawn_file_actions_adddup2(&setup.actions, fd, target)) return error;
  posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&setup.attributes, 0);
  char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                             const_cast<char*>(command), nullptr};
  return posix_spawn(id, "/bin/sh", &setup.actions, &setup.attributes, arguments, environ);
}

}  // namespace

StartedChild StartShell(const char* command, bool reads) {
  int pair[2];
  if (pipe2(pair, O_CLOEXEC) != 0) return {};
  const int others = reads ? pair[1] : pair[0];
  StartedChild started{.fd = reads ? pair[0] : pair[1]};
  const int error = Spawn(command, others, reads ? STDOUT_FILENO : STDIN_FILENO, &started.id);
  close(others);
  if (error == 0) return started;
  close(started.fd);
  errno = error;
  return {};
}

bool NoteChild(const PopenChild& child) { return Children().list().Add(child); }

pid_t ForgetChild(const void* stream) {
  Children children;
  for (const PopenChild child : children.list()) {
    if (child.stream != stream) continue;
    children.list().Remove(child);
    return child.id;
  }
  return 0;
}

int AwaitChild(pid_t id) {
  int status = 0;
  return waitpid(id, &status, 0) == id ? status : -1;
}

void KillChild(pid_t id) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  kill(-id, SIGKILL);
  while (AwaitChild(id) == -1 && errno == EINTR) {
  }
}

}  // namespace neptune::sert
