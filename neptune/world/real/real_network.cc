#include "neptune/world/real/real_network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/world/real/descriptor_poller.h"
#include "neptune/world/real/real_loop.h"
#include "neptune/world/real/real_stream.h"
#include "neptune/world/real/socket_edge.h"
#include "neptune/world/real/spare_descriptors.h"

namespace neptune {
namespace {

// Delay before accepting again when the process is out of descriptors and of spare ones, and
// between attempts to have spare ones again.
constexpr Duration kAcceptRetryDelay = std::chrono::milliseconds(50);
// Maximum datagrams received in one event before the loop's other sockets get a turn.
constexpr int kDatagramBatch = 64;

// Accepts one connection for each event; the poller reports again while more are waiting.
class Acceptor final : public DescriptorPoller::Watcher,
                       public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(RealLoop& loop, const ListenOptions& options, Network::AcceptHandler on_accept)
      : loop_(loop),
        on_accept_(std::move(on_accept)),
        on_exhausted_(options.on_exhausted),
        spares_(options.spare_count) {}

  Status Open(const Endpoint& at, const ListenOptions& options) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const SocketAddress address(at);
    const bool is_open =
        socket.open() && SetOption(socket.number(), SOL_SOCKET, SO_REUSEADDR, 1) &&
        // its connections inherit it
        SetOption(socket.number(), IPPROTO_TCP, TCP_NODELAY, 1) &&
        (!options.share_port || SetOption(socket.number(), SOL_SOCKET, SO_REUSEPORT, 1)) &&
        bind(socket.number(), address.data(), SocketAddress::size()) == 0 &&
        listen(socket.number(), options.backlog) == 0;
    if (!is_open) return FromErrno("listening on " + at.ToString());
    NEPTUNE_RETURN_IF_ERROR(
        loop_.descriptor_poller().Add(socket.number(), EPOLLIN, shared_from_this()));
    local_ = LocalOf(socket.number());
    socket_ = std::move(socket);
    return OkStatus();
  }

  // Closes at once: later connection attempts are refused.
  void Close() {
    loop_.descriptor_poller().Remove(socket_.number(), this);
    socket_.Close();
  }

  Endpoint local() const { return local_; }

 private:
  void OnReady(uint32_t) override {
    const auto self = shared_from_this();
    if (Accept()) return;
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    if ((errno != EMFILE && errno != ENFILE) || !AcceptWithSpare()) Pause();
  }

  // Accepts a connection; false: see errno.
  bool Accept() {
    SocketAddress peer;
    socklen_t size = SocketAddress::size();
    const int accepted =
        accept4(socket_.number(), peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0) return false;
    on_accept_(MakeRealStream(loop_, {accepted, peer.endpoint(), /*accepted=*/true}));
    return true;
  }

  // The process has no descriptors left: uses a spare one. The last is used to close the connection
  // at once, because a peer that waits for an accept that never comes learns nothing. Returns false
  // if no spare one was there.
  bool AcceptWithSpare() {
    if (!spares_.ReleaseOne()) return false;
    RefillLater();
    if (!spares_.empty()) return Accept();
    const int refused = accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (refused >= 0) close(refused);
    spares_.Refill();  // at once, before another thread takes the last descriptor
    if (refused >= 0 && on_exhausted_) on_exhausted_();
    return refused >= 0;
  }

  // Tries to have all spare descriptors again, until it succeeds.
  void RefillLater() {
    if (std::exchange(refilling_, true)) return;
    loop_.RunAt(loop_.Now() + kAcceptRetryDelay, [self = shared_from_this()] {
      self->refilling_ = false;
      if (self->socket_.open() && !self->spares_.Refill()) self->RefillLater();
    });
  }

  // Stops accepting for a while.
  void Pause() {
    RefillLater();
    loop_.descriptor_poller().Change(socket_.number(), 0, this);
    loop_.RunAt(loop_.Now() + kAcceptRetryDelay, [self = shared_from_this()] {
      if (self->socket_.open()) {
        self->loop_.descriptor_poller().Change(self->socket_.number(), EPOLLIN, self.get());
      }
    });
  }

  RealLoop& loop_;
  Network::AcceptHandler on_accept_;
  const std::function<void()> on_exhausted_;
  SpareDescriptors spares_;
  bool refilling_ = false;
  Endpoint local_;
  Descriptor socket_;
};

class RealListener final : public Listener {
 public:
  explicit RealListener(std::shared_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~RealListener() override { acceptor_->Close(); }
  Endpoint local() const override { return acceptor_->local(); }

 private:
  const std::shared_ptr<Acceptor> acceptor_;
};

// One connection attempt; the first of success, failure and deadline completes it.
class ConnectAttempt final : public DescriptorPoller::Watcher,
                             public std::enable_shared_from_this<ConnectAttempt> {
 public:
  ConnectAttempt(RealLoop& loop, const Endpoint& to, Network::ConnectHandler on_done)
      : loop_(loop), to_(to), on_done_(std::move(on_done)) {}
  ~ConnectAttempt() override {
    if (socket_ >= 0) close(socket_);
  }

  // A connect to a peer on this machine usually completes in the first call; the second one reports
  // it.
  void Begin(TimePoint deadline) {
    if (deadline <= loop_.Now()) return FinishLater(TooLate());
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return FinishLater(FromErrno(Doing()));
    auto outcome = Try();
    if (!outcome) outcome = Try();
    if (outcome) return FinishLater(*std::move(outcome));
    Status watched = loop_.descriptor_poller().Add(socket_, EPOLLOUT, shared_from_this());
    if (!watched.ok()) return FinishLater(std::move(watched));
    if (deadline == kNever) return;
    timer_ = loop_.RunAt(deadline, [self = shared_from_this()] {
      self->timer_ = 0;
      self->Decide(self->TooLate());
    });
  }

 private:
  // Returns whether there is a connection, or nullopt if that is not known yet.
  std::optional<Status> Try() const {
    const SocketAddress to(to_);
    if (connect(socket_, to.data(), SocketAddress::size()) == 0) return OkStatus();
    if (errno == EINPROGRESS || errno == EALREADY || errno == EINTR) return std::nullopt;
    return FromErrno(Doing());
  }

  void OnReady(uint32_t) override {
    if (auto outcome = Try()) Decide(*std::move(outcome));
  }

  void Decide(Status status) {
    const auto self = shared_from_this();
    loop_.descriptor_poller().Remove(socket_, this);
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
    Finish(status);
  }

  void FinishLater(Status status) {
    loop_.Post([self = shared_from_this(), status = std::move(status)] { self->Finish(status); });
  }

  void Finish(const Status& status) {
    if (!status.ok()) return on_done_(status);
    on_done_(MakeRealStream(loop_, {std::exchange(socket_, -1), to_, /*accepted=*/false}));
  }

  std::string Doing() const { return "connecting to " + to_.ToString(); }
  Status TooLate() const { return DeadlineExceeded(Doing(), ": timed out"); }

  RealLoop& loop_;
  const Endpoint to_;
  Network::ConnectHandler on_done_;
  int socket_ = -1;
  TimerId timer_ = 0;
};

class DatagramPort final : public DescriptorPoller::Watcher,
                           public std::enable_shared_from_this<DatagramPort> {
 public:
  DatagramPort(RealLoop& loop, const DatagramOptions& options, Network::DatagramHandler on_datagram)
      : loop_(loop),
        peer_(options.peer),
        on_refused_(options.on_refused),
        on_datagram_(std::move(on_datagram)) {}

  Status Open(const DatagramOptions& options) {
    Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const Endpoint& at = options.multicast_group ? *options.multicast_group : options.bind;
    const bool is_open = socket.open() &&
                         (options.multicast_group ? JoinGroup(socket.number(), options)
                                                  : Bind(socket.number(), options.bind)) &&
                         (!peer_ || Connect(socket.number(), *peer_));
    if (!is_open) return FromErrno("opening datagram socket " + at.ToString());
    NEPTUNE_RETURN_IF_ERROR(
        loop_.descriptor_poller().Add(socket.number(), EPOLLIN, shared_from_this()));
    socket_ = std::move(socket);
    return OkStatus();
  }

  // A datagram that cannot be sent now is lost.
  void SendTo(const Endpoint& to, std::string_view bytes) {
    if (!peer_) {
      const SocketAddress address(to);
      (void)sendto(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL, address.data(),
                   SocketAddress::size());
      return;
    }
    if (send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) return;
    if (errno != ECONNREFUSED) return;
    // The system reported the error of an earlier datagram and did not send this one.
    loop_.Post([self = shared_from_this()] { self->Refused(); });
    (void)send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void Close() {
    loop_.descriptor_poller().Remove(socket_.number(), this);
    socket_.Close();
  }

  Endpoint local() const { return LocalOf(socket_.number()); }

 private:
  static bool Bind(int socket, const Endpoint& at) {
    const SocketAddress address(at);
    return bind(socket, address.data(), SocketAddress::size()) == 0;
  }

  static bool Connect(int socket, const Endpoint& to) {
    const SocketAddress address(to);
    return connect(socket, address.data(), SocketAddress::size()) == 0;
  }

  static bool JoinGroup(int socket, const DatagramOptions& options) {
    const in_addr interface { htonl(options.multicast_interface) };
    const ip_mreq membership{{htonl(options.multicast_group->address)}, interface};
    return SetOption(socket, SOL_SOCKET, SO_REUSEADDR, 1) &&
           Bind(socket, *options.multicast_group) &&
           setsockopt(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof(membership)) ==
               0 &&
           setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof(interface)) == 0 &&
           SetOption(socket, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
  }

  void OnReady(uint32_t) override {
    const auto self = shared_from_this();
    auto& buffer = loop_.read_buffer();
    for (int i = 0; i < kDatagramBatch && socket_.open(); ++i) {
      SocketAddress from;
      socklen_t size_of_from = SocketAddress::size();
      const ssize_t size =
          recvfrom(socket_.number(), buffer.data(), buffer.size(), 0, from.data(), &size_of_from);
      if (size >= 0) {
        on_datagram_(from.endpoint(), {buffer.data(), static_cast<size_t>(size)});
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno == ECONNREFUSED && peer_) {
        Refused();
      }
    }
  }

  void Refused() {
    if (socket_.open() && on_refused_) on_refused_();
  }

  RealLoop& loop_;
  const std::optional<Endpoint> peer_;
  const std::function<void()> on_refused_;
  Network::DatagramHandler on_datagram_;
  Descriptor socket_;
};

class RealDatagramSocket final : public DatagramSocket {
 public:
  explicit RealDatagramSocket(std::shared_ptr<DatagramPort> port) : port_(std::move(port)) {}
  ~RealDatagramSocket() override { port_->Close(); }
  Status SendTo(const Endpoint& to, std::string_view bytes) override {
    if (bytes.size() > kDatagramSizeMax) {
      return InvalidArgument("datagram has ", bytes.size(), " bytes, limit ", kDatagramSizeMax);
    }
    port_->SendTo(to, bytes);
    return OkStatus();
  }
  Endpoint local() const override { return port_->local(); }

 private:
  const std::shared_ptr<DatagramPort> port_;
};

}  // namespace

StatusOr<std::unique_ptr<Listener>> RealNetwork::Listen(const Endpoint& at,
                                                        const ListenOptions& options,
                                                        AcceptHandler on_accept) {
  auto acceptor = std::make_shared<Acceptor>(loop_, options, std::move(on_accept));
  NEPTUNE_RETURN_IF_ERROR(acceptor->Open(at, options));
  return std::make_unique<RealListener>(std::move(acceptor));
}

void RealNetwork::Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) {
  std::make_shared<ConnectAttempt>(loop_, to, std::move(on_done))->Begin(deadline);
}

StatusOr<std::unique_ptr<DatagramSocket>> RealNetwork::OpenDatagram(const DatagramOptions& options,
                                                                    DatagramHandler on_datagram) {
  auto port = std::make_shared<DatagramPort>(loop_, options, std::move(on_datagram));
  NEPTUNE_RETURN_IF_ERROR(port->Open(options));
  return std::make_unique<RealDatagramSocket>(std::move(port));
}

}  // namespace neptune
