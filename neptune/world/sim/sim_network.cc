#include "neptune/world/sim/sim_network.h"

#include <utility>

namespace neptune {
namespace {

class SimListener : public Listener {
 public:
  SimListener(NetworkModel& model, std::shared_ptr<ListenSocket> socket)
      : model_(model), socket_(std::move(socket)) {}
  ~SimListener() override {
    if (socket_->open) model_.CloseListener(*socket_);
  }
  Endpoint local() const override { return socket_->local; }

 private:
  NetworkModel& model_;
  const std::shared_ptr<ListenSocket> socket_;
};

class SimDatagramSocket : public DatagramSocket {
 public:
  SimDatagramSocket(NetworkModel& model, std::shared_ptr<DatagramPort> port)
      : model_(model), port_(std::move(port)) {}
  ~SimDatagramSocket() override {
    if (port_->open) model_.CloseDatagram(*port_);
  }
  Status SendTo(const Endpoint& to, std::string_view bytes) override {
    if (bytes.size() > kDatagramSizeMax) {
      return InvalidArgument("sending a datagram of ", bytes.size(), " bytes to ", to.ToString(),
                             ": larger than ", kDatagramSizeMax);
    }
    if (port_->open) model_.SendDatagram(*port_, to, bytes);
    return OkStatus();
  }
  Endpoint local() const override { return port_->local; }

 private:
  NetworkModel& model_;
  const std::shared_ptr<DatagramPort> port_;
};

}  // namespace

StatusOr<std::unique_ptr<Listener>> SimNetwork::Listen(const Endpoint& at,
                                                       const ListenOptions& options,
                                                       AcceptHandler on_accept) {
  NEPTUNE_ASSIGN_OR_RETURN(auto socket, model_.Listen(&loop_, at, options, std::move(on_accept)));
  return std::make_unique<SimListener>(model_, std::move(socket));
}

void SimNetwork::Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) {
  auto attempt = std::make_shared<ConnectAttempt>();
  attempt->loop = &loop_;
  attempt->to = to;
  attempt->on_done = std::move(on_done);
  if (!loop_.stopped) model_.Connect(std::move(attempt), deadline);
}

StatusOr<std::unique_ptr<DatagramSocket>> SimNetwork::OpenDatagram(const DatagramOptions& options,
                                                                   DatagramHandler on_datagram) {
  NEPTUNE_ASSIGN_OR_RETURN(auto port, model_.OpenDatagram(&loop_, options, std::move(on_datagram)));
  return std::make_unique<SimDatagramSocket>(model_, std::move(port));
}

}  // namespace neptune
