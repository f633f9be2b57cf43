#include "neptune/world/real/real_network.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "neptune/world/real/asio_edge.h"
#include "neptune/world/real/descriptor_poller.h"
#include "neptune/world/real/real_loop.h"
#include "neptune/world/real/real_stream.h"
#include "neptune/world/real/spare_descriptors.h"

namespace neptune {
namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;
using ReusePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

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
    tcp::acceptor acceptor(loop_.io());
    error_code error;
    const auto step = [&](auto&& action) {
      if (!error) action();
    };
    step([&] { acceptor.open(tcp::v4(), error); });
    step([&] { acceptor.set_option(tcp::acceptor::reuse_address(true), error); });
    step([&] { acceptor.set_option(tcp::no_delay(true), error); });  // its connections inherit it
    if (options.share_port) step([&] { acceptor.set_option(ReusePort(true), error); });
    step([&] { acceptor.bind(ToTcp(at), error); });
    step([&] { acceptor.listen(options.backlog, error); });
    step([&] { acceptor.non_blocking(true, error); });
    step([&] { local_ = FromAsio(acceptor.local_endpoint(error)); });
    // removed from Asio's reactor; the poller takes it over
    step([&] { socket_ = acceptor.release(error); });
    if (error) return FromErrorCode(error, "listening on " + at.ToString());
    Status watched = loop_.descriptor_poller().Add(socket_, EPOLLIN, shared_from_this());
    if (!watched.ok()) close(std::exchange(socket_, kNone));
    return watched;
  }

  // Closes at once: later connection attempts are refused.
  void Close() {
    loop_.descriptor_poller().Remove(socket_, this);
    close(std::exchange(socket_, kNone));
  }

  Endpoint local() const { return local_; }

 private:
  static constexpr int kNone = -1;

  void OnReady(uint32_t) override {
    const auto self = shared_from_this();
    if (Accept()) return;
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    if ((errno != EMFILE && errno != ENFILE) || !AcceptWithSpare()) Pause();
  }

  // Accepts a connection; false: see errno.
  bool Accept() {
    tcp::endpoint peer;
    socklen_t size = static_cast<socklen_t>(peer.capacity());
    const int accepted = accept4(socket_, peer.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0) return false;
    on_accept_(MakeRealStream(loop_, {accepted, FromAsio(peer), /*accepted=*/true}));
    return true;
  }

  // The process has no descriptors left: uses a spare one. The last is used to close the connection
  // at once, because a peer that waits for an accept that never comes learns nothing. Returns false
  // if no spare one was there.
  bool AcceptWithSpare() {
    if (!spares_.ReleaseOne()) return false;
    RefillLater();
    if (!spares_.empty()) return Accept();
    const int refused = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
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
      if (self->socket_ != kNone && !self->spares_.Refill()) self->RefillLater();
    });
  }

  // Stops accepting for a while.
  void Pause() {
    RefillLater();
    loop_.descriptor_poller().Change(socket_, 0, this);
    loop_.RunAt(loop_.Now() + kAcceptRetryDelay, [self = shared_from_this()] {
      if (self->socket_ != kNone) {
        self->loop_.descriptor_poller().Change(self->socket_, EPOLLIN, self.get());
      }
    });
  }

  RealLoop& loop_;
  Network::AcceptHandler on_accept_;
  const std::function<void()> on_exhausted_;
  SpareDescriptors spares_;
  bool refilling_ = false;
  Endpoint local_;
  int socket_ = kNone;
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
    const tcp::endpoint to = ToTcp(to_);
    if (connect(socket_, to.data(), static_cast<socklen_t>(to.size())) == 0) return OkStatus();
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

class DatagramPort : public std::enable_shared_from_this<DatagramPort> {
 public:
  DatagramPort(RealLoop& loop, const DatagramOptions& options, Network::DatagramHandler on_datagram)
      : loop_(loop),
        socket_(loop.io()),
        is_connected_(options.peer.has_value()),
        on_refused_(options.on_refused),
        on_datagram_(std::move(on_datagram)) {}

  Status Open(const DatagramOptions& options) {
    error_code error;
    socket_.open(udp::v4(), error);
    if (!error) socket_.non_blocking(true, error);
    if (!error) options.multicast_group ? JoinGroup(options, error) : Bind(options.bind, error);
    if (!error && options.peer) socket_.connect(ToUdp(*options.peer), error);
    const Endpoint& at = options.multicast_group ? *options.multicast_group : options.bind;
    return FromErrorCode(error, "opening datagram socket " + at.ToString());
  }

  void WaitReadable() {
    socket_.async_wait(udp::socket::wait_read,
                       [self = shared_from_this()](const error_code& error) {
                         if (!error && !self->closed_) self->ReceiveSome();
                       });
  }

  void SendTo(const Endpoint& to, std::string_view bytes) {
    const auto buffer = boost::asio::buffer(bytes.data(), bytes.size());
    error_code error;  // a datagram that cannot be sent now is lost
    if (!is_connected_) {
      socket_.send_to(buffer, ToUdp(to), 0, error);
      return;
    }
    socket_.send(buffer, 0, error);
    if (error != boost::asio::error::connection_refused) return;
    // The system reported the error of an earlier datagram and did not send this one.
    loop_.Post([self = shared_from_this()] { self->Refused(); });
    socket_.send(buffer, 0, error);
  }

  void Close() {
    closed_ = true;
    error_code ignored;
    socket_.close(ignored);
  }

  Endpoint local() const {
    error_code ignored;
    return FromAsio(socket_.local_endpoint(ignored));
  }

 private:
  void Bind(const Endpoint& at, error_code& error) { socket_.bind(ToUdp(at), error); }

  void JoinGroup(const DatagramOptions& options, error_code& error) {
    namespace multicast = boost::asio::ip::multicast;
    const boost::asio::ip::address_v4 interface(options.multicast_interface);
    const boost::asio::ip::address_v4 group(options.multicast_group->address);
    socket_.set_option(udp::socket::reuse_address(true), error);
    if (!error) Bind(*options.multicast_group, error);
    if (!error) socket_.set_option(multicast::join_group(group, interface), error);
    if (!error) socket_.set_option(multicast::outbound_interface(interface), error);
    if (!error) socket_.set_option(multicast::enable_loopback(true), error);
  }

  void ReceiveSome() {
    auto& buffer = loop_.read_buffer();
    for (int i = 0; i < kDatagramBatch && !closed_; ++i) {
      udp::endpoint from;
      error_code error;
      const size_t size = socket_.receive_from(boost::asio::buffer(buffer), from, 0, error);
      if (error == boost::asio::error::would_block) break;
      if (error == boost::asio::error::connection_refused && is_connected_) Refused();
      if (error) continue;
      on_datagram_(FromAsio(from), {buffer.data(), size});
    }
    if (!closed_) WaitReadable();
  }

  void Refused() {
    if (!closed_ && on_refused_) on_refused_();
  }

  RealLoop& loop_;
  udp::socket socket_;
  const bool is_connected_;
  const std::function<void()> on_refused_;
  Network::DatagramHandler on_datagram_;
  bool closed_ = false;
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
  port->WaitReadable();
  return std::make_unique<RealDatagramSocket>(std::move(port));
}

}  // namespace neptune
