#include "neptune/node/hosted_module.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/parameter_table.h"

namespace neptune {
namespace {

// Checks the services that this module implements, wherever they are hosted.
Status CheckModule(const ClusterSpec& spec, const std::string& module,
                   const ModuleFactory& modules) {
  for (const NodeSpec& node : spec.nodes()) {
    for (const HostedServiceSpec& hosted : node.hosts()) {
      if (ModuleOf(spec, hosted) != module) continue;
      const Status status = MakeHostedModule(spec, hosted, modules).status();
      if (!status.ok()) return Annotate(status, StrCat("node '", node.name(), "'"));
    }
  }
  return OkStatus();
}

void WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = write(descriptor, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(size));
  }
}

std::string ReadAll(int descriptor) {
  std::string bytes;
  char block[4096];
  while (true) {
    const ssize_t size = read(descriptor, block, sizeof(block));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return bytes;
    bytes.append(block, static_cast<size_t>(size));
  }
}

// Runs `check` in a child process and returns its result, with codes other than INVALID_ARGUMENT
// as NOT_FOUND.
Status InChild(const std::function<Status()>& check) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ResourceExhausted("no descriptors for a pipe");
  const pid_t child = fork();
  if (child == 0) {
    const Status status = check();
    const bool is_invalid = status.code() == StatusCode::kInvalidArgument;
    if (!status.ok()) WriteAll(ends[1], StrCat(is_invalid ? "i" : "n", status.message()));
    _exit(0);
  }
  close(ends[1]);
  const std::string answer = child < 0 ? "" : ReadAll(ends[0]);
  close(ends[0]);
  if (child < 0) return ResourceExhausted("no process for a check");
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(how)) return NotFound("loading it ended the process with signal ", WTERMSIG(how));
  if (answer.empty()) return OkStatus();
  if (answer[0] == 'i') return InvalidArgument(answer.substr(1));
  return NotFound(answer.substr(1));
}

}  // namespace

const std::string& ModuleOf(const ClusterSpec& spec, const HostedServiceSpec& hosted) {
  return hosted.module().empty() ? FindService(spec, hosted.service())->module() : hosted.module();
}

StatusOr<std::unique_ptr<ServiceModule>> MakeHostedModule(const ClusterSpec& spec,
                                                          const HostedServiceSpec& hosted,
                                                          const ModuleFactory& modules) {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<ServiceModule> module, modules(ModuleOf(spec, hosted)));
  ParameterTable table;
  module->DeclareParameters(table);
  NEPTUNE_RETURN_IF_ERROR(Annotate(table.Set(EffectiveParameters(spec, hosted)),
                                   StrCat("service '", hosted.service(), "'")));
  return module;
}

Status CheckModules(const ClusterSpec& spec, const ModuleFactory& modules, AbsentModules absent) {
  std::set<std::string> names;
  for (const NodeSpec& node : spec.nodes()) {
    for (const HostedServiceSpec& hosted : node.hosts()) names.insert(ModuleOf(spec, hosted));
  }
  for (const std::string& name : names) {
    const Status status = InChild([&] { return CheckModule(spec, name, modules); });
    const bool is_absent = status.code() == StatusCode::kNotFound;
    if (!status.ok() && !(is_absent && absent == AbsentModules::kIgnore)) {
      return is_absent ? Annotate(status, StrCat("module '", name, "'")) : status;
    }
  }
  return OkStatus();
}

}  // namespace neptune
