#include "tools/replay/null_server.h"

#include <utility>

#include "neptune/base/strings.h"

namespace search::tools {

using neptune::Status;
using neptune::StatusOr;

class NullServer::Client final : public neptune::StreamHandler,
                                 public std::enable_shared_from_this<Client> {
 public:
  Client(NullServer* server, std::unique_ptr<neptune::Stream> stream)
      : server_(server), stream_(std::move(stream)) {}

  void Start() { stream_->Start(this); }
  void Forget() { server_ = nullptr; }

 private:
  void OnData(std::string_view bytes) override {
    const auto self = shared_from_this();
    received_ += bytes;
    size_t begin = 0;
    for (size_t end; (end = received_.find("\r\n\r\n", begin)) != received_.npos; begin = end + 4) {
      if (server_ == nullptr) return;
      if (server_->options_.delay.count() == 0) {
        Answer();
      } else {
        server_->loop_.RunAt(server_->loop_.Now() + server_->options_.delay,
                             [weak = weak_from_this()] {
                               if (const auto self = weak.lock()) self->Answer();
                             });
      }
    }
    received_.erase(0, begin);
  }

  void Answer() {
    if (server_ == nullptr || stream_ == nullptr) return;
    stream_->Write(server_->answer_);
    ++server_->answered_count_;
    if (++answered_ == server_->options_.answers_per_connection) {
      stream_->Close();
      End();
    }
  }

  void OnClosed(const Status&) override { End(); }

  void End() {
    const auto self = shared_from_this();
    if (server_ != nullptr) std::exchange(server_, nullptr)->clients_.erase(this);
  }

  NullServer* server_;
  std::unique_ptr<neptune::Stream> stream_;
  std::string received_;
  int answered_ = 0;
};

NullServer::NullServer(neptune::Loop& loop, const Options& options)
    : loop_(loop),
      options_(options),
      answer_(neptune::StrCat("HTTP/1.1 ", options.status, " -\r\nContent-Length: ",
                              options.body.size(), "\r\n\r\n", options.body)) {}

NullServer::~NullServer() {
  for (auto& [client, owned] : clients_) client->Forget();
}

StatusOr<std::unique_ptr<NullServer>> NullServer::Listen(neptune::Loop& loop,
                                                         const neptune::Endpoint& at,
                                                         const Options& options) {
  std::unique_ptr<NullServer> server(new NullServer(loop, options));
  NEPTUNE_ASSIGN_OR_RETURN(
      server->listener_,
      loop.network().Listen(at, {}, [raw = server.get()](std::unique_ptr<neptune::Stream> stream) {
        auto client = std::make_shared<Client>(raw, std::move(stream));
        raw->clients_.emplace(client.get(), client);
        client->Start();
      }));
  return server;
}

}  // namespace search::tools
