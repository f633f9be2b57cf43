#include "neptune/node/hosted_module.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <set>
#include <utility>

#include "neptune/base/descriptor.h"
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
// as NOT_FOUND. The child answers "o", "i" or "n" and a message; one that ends without an answer
// was ended by what it loaded.
Status InChild(const std::function<Status()>& check) {
  NEPTUNE_ASSIGN_OR_RETURN(Pipe answers, MakePipe());
  const pid_t child = fork();
  if (child < 0) return ResourceExhausted("no process for a check");
  if (child == 0) {
    const Status status = check();
    const char* const kind = status.ok()                                     ? "o"
                             : status.code() == StatusCode::kInvalidArgument ? "i"
                                                                             : "n";
    WriteAll(answers.writing.number(), StrCat(kind, status.message()));
    _exit(0);
  }
  answers.writing.Close();
  const std::string answer = ReadAll(answers.reading.number());
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(how)) return NotFound("loading it ended the process with signal ", WTERMSIG(how));
  if (answer.empty()) {
    return NotFound("loading it ended the process with status ", WEXITSTATUS(how));
  }
  if (answer[0] == 'o') return OkStatus();
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

Status CheckModules(const ClusterSpec& spec, const ModuleFactory& modules) {
  std::set<std::string> names;
  for (const NodeSpec& node : spec.nodes()) {
    for (const HostedServiceSpec& hosted : node.hosts()) names.insert(ModuleOf(spec, hosted));
  }
  for (const std::string& name : names) {
    const Status status = InChild([&] { return CheckModule(spec, name, modules); });
    if (status.code() == StatusCode::kNotFound) {
      return Annotate(status, StrCat("module '", name, "'"));
    }
    NEPTUNE_RETURN_IF_ERROR(status);
  }
  return OkStatus();
}

}  // namespace neptune
