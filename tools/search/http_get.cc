#include "tools/search/http_get.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/response_reader.h"

namespace search::tools {
namespace {

using neptune::DeadlineExceeded;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::Unavailable;

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// The time left of one exchange, and what is being waited for in it.
class Deadline {
 public:
  Deadline(const HttpGetOptions& options, const HttpOrigin& target)
      : clock_(options.clock),
        end_(clock_() + std::chrono::nanoseconds(options.timeout).count()),
        timeout_ms_(options.timeout.count()),
        target_(target) {}

  // Waits until `socket` can be read or written.
  Status Wait(const Socket& socket, short events) const {
    while (true) {
      const int64_t left_ms = (end_ - clock_() + 999'999) / 1'000'000;
      if (left_ms <= 0) {
        return DeadlineExceeded(target_.authority, " did not answer within ", timeout_ms_, " ms");
      }
      pollfd waiting = {.fd = socket.descriptor(), .events = events, .revents = 0};
      const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
      if (ready > 0) return neptune::OkStatus();
      if (ready < 0 && errno != EINTR) return Unavailable("poll: ", strerror(errno));
    }
  }

 private:
  const NanosecondClock clock_;
  const int64_t end_;
  const int64_t timeout_ms_;
  const HttpOrigin& target_;
};

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

StatusOr<AddressList> Resolve(const HttpOrigin& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(target.host.c_str(), target.port.c_str(), &hints, &list);
  if (error != 0) return Unavailable("cannot resolve ", target.host, ": ", gai_strerror(error));
  return AddressList(list, &freeaddrinfo);
}

// Errors: UNAVAILABLE with the system's reason.
StatusOr<Socket> ConnectTo(const addrinfo& address, const Deadline& deadline) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.descriptor() < 0) return Unavailable("socket: ", strerror(errno));
  if (connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Unavailable(strerror(errno));
  NEPTUNE_RETURN_IF_ERROR(deadline.Wait(socket, POLLOUT));
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Unavailable(strerror(error));
  return socket;
}

StatusOr<Socket> Connect(const HttpOrigin& target, const Deadline& deadline) {
  NEPTUNE_ASSIGN_OR_RETURN(const AddressList addresses, Resolve(target));
  Status last = Unavailable("no address");
  for (const addrinfo* address = addresses.get(); address; address = address->ai_next) {
    StatusOr<Socket> socket = ConnectTo(*address, deadline);
    if (socket.ok()) return socket;
    last = socket.status();
  }
  return neptune::Annotate(last, StrCat("cannot connect to ", target.authority));
}

Status SendAll(const Socket& socket, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      NEPTUNE_RETURN_IF_ERROR(deadline.Wait(socket, POLLOUT));
    } else if (errno != EINTR) {
      return Unavailable("send: ", strerror(errno));
    }
  }
  return neptune::OkStatus();
}

// Gives the reader what has arrived, at least a byte or the end.
Status ReceiveSome(const Socket& socket, const Deadline& deadline,
                   neptune::HttpResponseReader* reader, bool* ended) {
  char buffer[16 * 1024];
  const ssize_t size = recv(socket.descriptor(), buffer, sizeof(buffer), 0);
  if (size > 0) {
    reader->Feed(std::string_view(buffer, size));
  } else if (size == 0) {
    reader->FeedEnd();
    *ended = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    return deadline.Wait(socket, POLLIN);
  } else if (errno != EINTR) {
    return Unavailable("receive: ", strerror(errno));
  }
  return neptune::OkStatus();
}

StatusOr<neptune::HttpResponse> ReceiveResponse(const Socket& socket, std::string_view method,
                                                const Deadline& deadline,
                                                const HttpGetOptions& options) {
  neptune::HttpResponseReader reader({.body_size_max = options.body_size_max});
  reader.Expect(method);
  bool ended = false;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(std::optional<neptune::HttpResponse> response, reader.Next());
    if (response) return *std::move(response);
    if (ended) return Unavailable("the connection was closed without an answer");
    NEPTUNE_RETURN_IF_ERROR(ReceiveSome(socket, deadline, &reader, &ended));
  }
}

bool IsPort(std::string_view port) {
  if (port.empty() || port.size() > 5) return false;
  if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  const int number = std::stoi(std::string(port));
  return number >= 1 && number <= 65535;
}

}  // namespace

StatusOr<HttpOrigin> ParseHttpOrigin(std::string_view url) {
  if (url.size() > kUrlSizeMax)
    return InvalidArgument("target: longer than ", kUrlSizeMax, " bytes");
  if (url.starts_with("https://")) {
    return InvalidArgument("target: https is not spoken here, write http://HOST:PORT");
  }
  std::string_view rest = url;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto malformed = [&] {
    return InvalidArgument("target '", url, "': must be http://HOST[:PORT]");
  };
  HttpOrigin target;
  target.authority = rest;
  const bool bracketed = rest.starts_with('[');
  const size_t host_end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && host_end == std::string_view::npos) return malformed();
  target.host = bracketed ? rest.substr(1, host_end - 1) : rest.substr(0, host_end);
  std::string_view after =
      host_end == std::string_view::npos ? "" : rest.substr(host_end + bracketed);
  if (!after.empty()) {
    if (after[0] != ':' || !IsPort(after.substr(1))) return malformed();
    target.port = after.substr(1);
  }
  constexpr std::string_view kNotInHosts = " /?#@<>\"\\^`{|}\t\r\n";
  if (target.host.empty() || target.host.find_first_of(kNotInHosts) != std::string::npos) {
    return malformed();
  }
  target.base_url = StrCat("http://", target.authority);
  return target;
}

StatusOr<neptune::HttpResponse> HttpGet(const HttpOrigin& target, std::string_view path,
                                        const neptune::HttpHeaders& headers,
                                        const HttpGetOptions& options) {
  return HttpExchange(target, "GET", path, headers, {}, options);
}

StatusOr<neptune::HttpResponse> HttpExchange(const HttpOrigin& target, std::string_view method,
                                             std::string_view path,
                                             const neptune::HttpHeaders& headers,
                                             std::string_view body, const HttpGetOptions& options) {
  const Deadline deadline(options, target);
  NEPTUNE_ASSIGN_OR_RETURN(const Socket socket, Connect(target, deadline));
  const std::string request =
      neptune::SerializeHttpRequest(method, path, target.authority, headers, body);
  NEPTUNE_RETURN_IF_ERROR(SendAll(socket, request, deadline));
  return ReceiveResponse(socket, method, deadline, options);
}

}  // namespace search::tools
