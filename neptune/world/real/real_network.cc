#include "neptune/world/real/real_network.h"

#include <sys/socket.h>

#include <boost/asio/ip/multicast.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <utility>

#include "neptune/world/real/asio_edge.h"
#include "neptune/world/real/real_loop.h"
#include "neptune/world/real/real_stream.h"

namespace neptune {
namespace {

using boost::asio::ip::tcp;
using boost::asio::ip::udp;
using boost::system::error_code;
using ReusePort = boost::asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// Wait before accepting again when the process is out of descriptors.
constexpr Duration kAcceptRetryDelay = std::chrono::milliseconds(50);
// Datagrams taken in one event before the loop's other sockets get a turn.
constexpr int kDatagramBatch = 64;

class Acceptor : public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(RealLoop& loop, Network::AcceptHandler on_accept)
      : loop_(loop), acceptor_(loop.io()), on_accept_(std::move(on_accept)) {}

  Status Open(const Endpoint& at, const ListenOptions& options) {
    error_code error;
    const auto step = [&](auto&& action) {
      if (!error) action();
    };
    step([&] { acceptor_.open(tcp::v4(), error); });
    step([&] { acceptor_.set_option(tcp::acceptor::reuse_address(true), error); });
    if (options.share_port) step([&] { acceptor_.set_option(ReusePort(true), error); });
    step([&] { acceptor_.bind(ToTcp(at), error); });
    step([&] { acceptor_.listen(options.backlog, error); });
    return FromErrorCode(error, "listening on " + at.ToString());
  }

  void AcceptNext() {
    acceptor_.async_accept(
        [self = shared_from_this()](const error_code& error, tcp::socket socket) {
          self->Accepted(error, std::move(socket));
        });
  }

  void Close() {
    closed_ = true;
    error_code ignored;
    acceptor_.close(ignored);
  }

  Endpoint local() const {
    error_code ignored;
    return FromAsio(acceptor_.local_endpoint(ignored));
  }

 private:
  void Accepted(const error_code& error, tcp::socket socket) {
    if (closed_) return;
    if (!error) {
      on_accept_(MakeRealStream(loop_, std::move(socket)));
      if (!closed_) AcceptNext();
      return;
    }
    loop_.RunAt(loop_.Now() + kAcceptRetryDelay, [self = shared_from_this()] {
      if (!self->closed_) self->AcceptNext();
    });
  }

  RealLoop& loop_;
  tcp::acceptor acceptor_;
  Network::AcceptHandler on_accept_;
  bool closed_ = false;
};

class RealListener final : public Listener {
 public:
  explicit RealListener(std::shared_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}
  ~RealListener() override { acceptor_->Close(); }
  Endpoint local() const override { return acceptor_->local(); }

 private:
  const std::shared_ptr<Acceptor> acceptor_;
};

// One connection attempt: the first of success, failure and deadline answers.
class ConnectAttempt : public std::enable_shared_from_this<ConnectAttempt> {
 public:
  ConnectAttempt(RealLoop& loop, const Endpoint& to, Network::ConnectHandler on_done)
      : loop_(loop), to_(to), socket_(loop.io()), on_done_(std::move(on_done)) {}

  void Begin(TimePoint deadline) {
    if (deadline <= loop_.Now()) {
      loop_.Post([self = shared_from_this()] { self->Expire(); });
      return;
    }
    if (deadline != kNever) {
      timer_ = loop_.RunAt(deadline, [self = shared_from_this()] {
        self->timer_ = 0;
        self->Expire();
      });
    }
    socket_.async_connect(ToTcp(to_), [self = shared_from_this()](const error_code& error) {
      self->Finish(FromErrorCode(error, "connecting to " + self->to_.ToString()));
    });
  }

 private:
  void Expire() {
    Finish(DeadlineExceeded("connecting to ", to_.ToString(), ": no answer in time"));
  }

  void Finish(const Status& status) {
    if (done_) return;
    done_ = true;
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
    if (status.ok()) {
      on_done_(MakeRealStream(loop_, std::move(socket_)));
      return;
    }
    error_code ignored;
    socket_.close(ignored);
    on_done_(status);
  }

  RealLoop& loop_;
  const Endpoint to_;
  tcp::socket socket_;
  Network::ConnectHandler on_done_;
  TimerId timer_ = 0;
  bool done_ = false;
};

class DatagramPort : public std::enable_shared_from_this<DatagramPort> {
 public:
  DatagramPort(RealLoop& loop, Network::DatagramHandler on_datagram)
      : loop_(loop), socket_(loop.io()), on_datagram_(std::move(on_datagram)) {}

  Status Open(const DatagramOptions& options) {
    error_code error;
    socket_.open(udp::v4(), error);
    if (!error) socket_.non_blocking(true, error);
    if (!error) options.multicast_group ? JoinGroup(options, error) : Bind(options.bind, error);
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
    error_code ignored;  // a datagram that cannot be sent now is a lost one
    socket_.send_to(boost::asio::buffer(bytes.data(), bytes.size()), ToUdp(to), 0, ignored);
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
      if (error) continue;  // for instance an earlier datagram that found no port
      on_datagram_(FromAsio(from), {buffer.data(), size});
    }
    if (!closed_) WaitReadable();
  }

  RealLoop& loop_;
  udp::socket socket_;
  Network::DatagramHandler on_datagram_;
  bool closed_ = false;
};

class RealDatagramSocket final : public DatagramSocket {
 public:
  explicit RealDatagramSocket(std::shared_ptr<DatagramPort> port) : port_(std::move(port)) {}
  ~RealDatagramSocket() override { port_->Close(); }
  Status SendTo(const Endpoint& to, std::string_view bytes) override {
    if (bytes.size() > kDatagramSizeMax) {
      return InvalidArgument("datagram of ", bytes.size(), " bytes is over ", kDatagramSizeMax);
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
  auto acceptor = std::make_shared<Acceptor>(loop_, std::move(on_accept));
  NEPTUNE_RETURN_IF_ERROR(acceptor->Open(at, options));
  acceptor->AcceptNext();
  return std::make_unique<RealListener>(std::move(acceptor));
}

void RealNetwork::Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) {
  std::make_shared<ConnectAttempt>(loop_, to, std::move(on_done))->Begin(deadline);
}

StatusOr<std::unique_ptr<DatagramSocket>> RealNetwork::OpenDatagram(const DatagramOptions& options,
                                                                    DatagramHandler on_datagram) {
  auto port = std::make_shared<DatagramPort>(loop_, std::move(on_datagram));
  NEPTUNE_RETURN_IF_ERROR(port->Open(options));
  port->WaitReadable();
  return std::make_unique<RealDatagramSocket>(std::move(port));
}

}  // namespace neptune
