#include "neptune/security/secure_network.h"

#include <map>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/security/handshake_places.h"
#include "neptune/security/keyed_stream.h"
#include "neptune/security/tls_stream.h"

namespace neptune {
namespace {

using SecuredHandler = absl::AnyInvocable<void(StatusOr<std::unique_ptr<Stream>>)>;

}  // namespace

struct SecureNetwork::Core : public std::enable_shared_from_this<SecureNetwork::Core> {
  // A connection whose handshake is in progress.
  struct Securing {
    HandshakeRole role;
    Endpoint peer;
    std::unique_ptr<LayeredStream> stream;
    bool keyed = false;  // `stream` is the last layer
    TimerId timer = 0;
    SecuredHandler on_done;
  };

  Core(Loop& its_loop, const SecureNetworkOptions& its_options)
      : loop(its_loop),
        options(its_options),
        places(HandshakePlaces::ForAll(its_options.handshake_count_max)) {
    if (options.keys != nullptr) mac.emplace(*options.keys);
  }

  void Note(Refusal kind, const Endpoint& peer, std::string_view why) const {
    if (options.refusals != nullptr) options.refusals->Note(kind, peer, why);
  }

  void Secure(std::unique_ptr<Stream> plain, HandshakeRole role, const Endpoint& peer,
              TimePoint deadline, SecuredHandler on_done) {
    if (options.tls == nullptr && !mac) return on_done(std::move(plain));
    const uint64_t id = next_id++;
    Securing& securing = under_way[id];
    securing.role = role;
    securing.peer = peer;
    securing.on_done = std::move(on_done);
    if (role == HandshakeRole::kServer) places.Add(id, peer.address);
    securing.timer = loop.RunAt(deadline, [this, id] { TimeOut(id); });
    if (options.tls != nullptr) {
      auto stream = std::make_unique<TlsStream>(loop, std::move(plain), *options.tls,
                                                role == HandshakeRole::kServer);
      if (options.takes_plain && role == HandshakeRole::kServer) stream->TakePlain();
      securing.stream = std::move(stream);
      securing.keyed = !mac;
    } else {
      PutKeyOver(securing, std::move(plain), "");
    }
    Begin(id);
  }

  void PutKeyOver(Securing& securing, std::unique_ptr<Stream> below, std::string binding) {
    securing.stream = std::make_unique<KeyedStream>(loop, std::move(below), securing.role, *mac,
                                                    std::move(binding));
    securing.keyed = true;
  }

  void Begin(uint64_t id) {
    under_way.at(id).stream->Secure([this, id](const Status& status) { Layer(id, status); });
  }

  void Layer(uint64_t id, const Status& status) {
    Securing& securing = under_way.at(id);
    if (!status.ok()) {
      const bool accepted = securing.role == HandshakeRole::kServer;
      Note(accepted ? Refusal::kAccepted : Refusal::kMade, securing.peer, ToStd(status.message()));
      return Finish(id, status);
    }
    if (securing.keyed) return Finish(id, status);
    const std::string binding = securing.stream->Binding();
    PutKeyOver(securing, std::move(securing.stream), binding);
    Begin(id);
  }

  void TimeOut(uint64_t id) {
    Securing& securing = under_way.at(id);
    securing.timer = 0;
    Note(Refusal::kLate, securing.peer, "the security handshake timed out");
    Finish(id, DeadlineExceeded("the security handshake timed out"));
  }

  void Finish(uint64_t id, const Status& status) {
    auto node = under_way.extract(id);
    Securing& securing = node.mapped();
    places.Remove(id, securing.peer.address);
    if (securing.timer != 0) loop.CancelTimer(securing.timer);
    if (status.ok()) return securing.on_done(std::move(securing.stream));
    securing.on_done(Annotate(
        status,
        StrCat(securing.role == HandshakeRole::kServer ? "connection from " : "connecting to ",
               securing.peer.ToString())));
  }

  void Accept(std::unique_ptr<Stream> plain,
              const std::shared_ptr<std::optional<AcceptHandler>>& on_accept) {
    const Endpoint peer = plain->peer();
    MakeRoom(peer.address);
    Secure(std::move(plain), HandshakeRole::kServer, peer,
           AddSaturated(loop.Now(), options.handshake_timeout),
           [on_accept](StatusOr<std::unique_ptr<Stream>> stream) {
             if (stream.ok() && *on_accept) (**on_accept)(*std::move(stream));
           });
  }

  void MakeRoom(uint32_t address) {
    while (const std::optional<uint64_t> id = places.ChooseFor(address)) {
      Note(Refusal::kCrowded, under_way.at(*id).peer,
           "closed in its handshake to make room for another connection");
      Finish(*id, ResourceExhausted("too many connections in the security handshake"));
    }
  }

  Loop& loop;
  const SecureNetworkOptions options;
  std::optional<ClusterMac> mac;
  std::map<uint64_t, Securing> under_way;
  uint64_t next_id = 1;
  HandshakePlaces places;  // of accepted connections in under_way
};

namespace {

// Destroys the handler with the listener, also for connections whose handshake is in progress.
class SecureListener final : public Listener {
 public:
  SecureListener(std::unique_ptr<Listener> plain,
                 std::shared_ptr<std::optional<Network::AcceptHandler>> on_accept)
      : plain_(std::move(plain)), on_accept_(std::move(on_accept)) {}
  ~SecureListener() override { on_accept_->reset(); }
  Endpoint local() const override { return plain_->local(); }

 private:
  const std::unique_ptr<Listener> plain_;
  const std::shared_ptr<std::optional<Network::AcceptHandler>> on_accept_;
};

class SealedSocket final : public DatagramSocket {
 public:
  SealedSocket(std::unique_ptr<DatagramSocket> plain, std::shared_ptr<ClusterMac> mac)
      : plain_(std::move(plain)), mac_(std::move(mac)) {}

  Status SendTo(const Endpoint& to, std::string_view bytes) override {
    return plain_->SendTo(to, SealDatagram(bytes, *mac_));
  }
  Endpoint local() const override { return plain_->local(); }

 private:
  const std::unique_ptr<DatagramSocket> plain_;
  const std::shared_ptr<ClusterMac> mac_;
};

}  // namespace

SecureNetwork::SecureNetwork(Loop& loop, const SecureNetworkOptions& options)
    : core_(std::make_shared<Core>(loop, options)) {}

SecureNetwork::~SecureNetwork() {
  for (auto& [id, securing] : std::exchange(core_->under_way, {})) {
    if (securing.timer != 0) core_->loop.CancelTimer(securing.timer);
  }
}

StatusOr<std::unique_ptr<Listener>> SecureNetwork::Listen(const Endpoint& at,
                                                          const ListenOptions& options,
                                                          AcceptHandler on_accept) {
  const auto handler = std::make_shared<std::optional<AcceptHandler>>(std::move(on_accept));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto plain,
      core_->loop.network().Listen(
          at, options, [weak = std::weak_ptr(core_), handler](std::unique_ptr<Stream> stream) {
            if (const auto core = weak.lock()) core->Accept(std::move(stream), handler);
          }));
  return std::make_unique<SecureListener>(std::move(plain), handler);
}

void SecureNetwork::Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) {
  core_->loop.network().Connect(
      to, deadline,
      [weak = std::weak_ptr(core_), to, deadline,
       on_done = std::move(on_done)](StatusOr<std::unique_ptr<Stream>> stream) mutable {
        const auto core = weak.lock();
        if (core == nullptr) return;
        if (!stream.ok()) return on_done(stream.status());
        core->Secure(*std::move(stream), HandshakeRole::kCaller, to, deadline, std::move(on_done));
      });
}

bool SecureNetwork::knows_senders() const { return core_->options.keys != nullptr; }

StatusOr<std::unique_ptr<DatagramSocket>> SecureNetwork::OpenDatagram(
    const DatagramOptions& options, DatagramHandler on_datagram) {
  if (core_->options.keys == nullptr) {
    return core_->loop.network().OpenDatagram(options, std::move(on_datagram));
  }
  const auto mac = std::make_shared<ClusterMac>(*core_->options.keys);
  RefusalLog* const refusals = core_->options.refusals;
  NEPTUNE_ASSIGN_OR_RETURN(
      auto plain, core_->loop.network().OpenDatagram(
                      options, [mac, refusals, on_datagram = std::move(on_datagram)](
                                   const Endpoint& from, std::string_view sealed) mutable {
                        const StatusOr<std::string_view> bytes = OpenDatagramSeal(sealed, *mac);
                        if (bytes.ok()) return on_datagram(from, *bytes);
                        if (refusals != nullptr) {
                          refusals->Note(Refusal::kDatagram, from, ToStd(bytes.status().message()));
                        }
                      }));
  return std::make_unique<SealedSocket>(std::move(plain), mac);
}

}  // namespace neptune
