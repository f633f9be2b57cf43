#include "tools/process/linked_hosts.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "neptune/base/strings.h"
#include "neptune/world/network.h"
#include "tools/corpus/child_process.h"
#include "tools/terminal/progress.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;

constexpr uint32_t kNetwork = 10U << 24 | 77U << 16;
constexpr char kIp[] = "/sbin/ip";

// Entered by a separate thread, so that the calling one keeps its namespace.
Status InNamespace(int descriptor, const std::function<Status()>& body) {
  Status status;
  std::thread([&] {
    PCHECK(setns(descriptor, CLONE_NEWNET) == 0);
    status = body();
  }).join();
  return status;
}

StatusOr<int> NewNamespace() {
  int descriptor = -1;
  int error = 0;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) == 0) {
      descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    }
    error = errno;
  }).join();
  if (descriptor >= 0) return descriptor;
  return neptune::Unavailable("creating a network namespace: ", std::strerror(error));
}

// Sets up the namespace of the calling thread, with one command per line.
Status RunIp(const std::string& commands) {
  NEPTUNE_ASSIGN_OR_RETURN(
      const tools::ChildResult result,
      tools::RunChild({kIp, "-batch", "-"}, {.input = commands}, tools::MonotonicNanoseconds));
  if (result.exit_status == 0) return neptune::OkStatus();
  return neptune::Unavailable("setting up network namespaces: ", result.error_output);
}

std::string PortName(size_t host) { return StrCat("port", host); }

}  // namespace

StatusOr<std::unique_ptr<LinkedHosts>> LinkedHosts::Make(size_t count) {
  CHECK_LE(count, kLinkedHostCountMax);
  std::unique_ptr<LinkedHosts> hosts(new LinkedHosts(count));
  NEPTUNE_RETURN_IF_ERROR(hosts->MakeNamespaces());
  NEPTUNE_RETURN_IF_ERROR(hosts->Connect());
  return hosts;
}

LinkedHosts::~LinkedHosts() {
  for (const int host : hosts_) close(host);
  close(switch_control_);
  close(switch_);
}

Status LinkedHosts::MakeNamespaces() {
  NEPTUNE_ASSIGN_OR_RETURN(switch_, NewNamespace());
  for (int& host : hosts_) {
    NEPTUNE_ASSIGN_OR_RETURN(host, NewNamespace());
  }
  return InNamespace(switch_, [this] {
    switch_control_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (switch_control_ >= 0) return neptune::OkStatus();
    return neptune::Unavailable("creating a socket: ", std::strerror(errno));
  });
}

Status LinkedHosts::Connect() const {
  std::string commands = "link add switch type bridge\nlink set switch up\n";
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const std::string port = PortName(i);
    StrAppend(&commands, "link add ", port, " type veth peer name eth0 netns /proc/", getpid(),
              "/fd/", hosts_[i], "\nlink set ", port, " master switch\nlink set ", port, " up\n");
  }
  NEPTUNE_RETURN_IF_ERROR(InNamespace(switch_, [&] { return RunIp(commands); }));
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const std::string at = neptune::Endpoint{address(i), 0}.ToString();
    NEPTUNE_RETURN_IF_ERROR(InNamespace(hosts_[i], [&] {
      return RunIp(StrCat("link set lo up\naddr add ", at.substr(0, at.find(':')),
                          "/24 dev eth0\nlink set eth0 up\n"));
    }));
  }
  return neptune::OkStatus();
}

uint32_t LinkedHosts::address(size_t host) const {
  return kNetwork + 1 + static_cast<uint32_t>(host);
}

void LinkedHosts::RunIn(size_t host, const std::function<void()>& body) const {
  (void)InNamespace(hosts_.at(host), [&] {
    body();
    return neptune::OkStatus();
  });
}

Status LinkedHosts::SetLink(size_t host, bool is_up) const {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", PortName(host).c_str());
  bool is_done = ioctl(switch_control_, SIOCGIFFLAGS, &request) == 0;
  const int flags = is_up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP;
  request.ifr_flags = static_cast<short>(flags);
  is_done = is_done && ioctl(switch_control_, SIOCSIFFLAGS, &request) == 0;
  if (is_done) return neptune::OkStatus();
  return neptune::Unavailable("setting the link of host ", host, ": ", std::strerror(errno));
}

}  // namespace search::lab
