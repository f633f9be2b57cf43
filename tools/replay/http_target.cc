#include "tools/replay/http_target.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/wire/http/url_decoding.h"

namespace search::tools {

using neptune::Endpoint;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;
using neptune::Stream;

class HttpTarget::Connection final : public neptune::StreamHandler,
                                     public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpTarget* target, size_t server) : target_(target), server_(server) {}

  size_t server() const { return server_; }

  void Send(uint32_t request, std::string text) {
    request_ = request;
    busy_ = true;
    got_bytes_ = false;
    if (stream_ != nullptr) return stream_->Write(std::move(text));
    fresh_ = true;
    target_->sink_->Sent(request);
    const neptune::TimePoint deadline = target_->loop_.Now() + target_->options_.connect_timeout;
    target_->loop_.network().Connect(target_->options_.servers[server_], deadline,
                                     [self = shared_from_this(), text = std::move(text)](
                                         StatusOr<std::unique_ptr<Stream>> stream) mutable {
                                       self->Connected(std::move(stream), std::move(text));
                                     });
  }

  // No more callbacks.
  void Abandon() {
    target_ = nullptr;
    stream_.reset();
  }

 private:
  void Connected(StatusOr<std::unique_ptr<Stream>> stream, std::string text) {
    if (target_ == nullptr) return;
    if (!stream.ok()) {
      RequestSink* const sink = target_->sink_;
      End(Outcome::kConnection, {}, false);
      return sink->Refused(stream.status());
    }
    stream_ = *std::move(stream);
    stream_->Start(this);
    stream_->Write(std::move(text));
  }

  void OnDrained() override {
    if (busy_ && !fresh_) target_->sink_->Sent(request_);
  }

  void OnData(std::string_view bytes) override {
    got_bytes_ = true;
    reader_.Feed(bytes);
    const StatusOr<std::optional<HttpResponse>> next = reader_.Next();
    // Treat unsolicited bytes like malformed ones.
    if (!next.ok() || !busy_) return End(Outcome::kConnection, {}, false);
    if (next->has_value()) Answered(**next);
  }

  void OnClosed(const Status&) override {
    const auto self = shared_from_this();
    stream_.reset();
    reader_.FeedEnd();
    const StatusOr<std::optional<HttpResponse>> last = reader_.Next();
    if (busy_ && last.ok() && last->has_value()) return Answered(**last);
    if (busy_ && !fresh_ && !got_bytes_) return target_->Retry(request_, server_);
    End(Outcome::kConnection, {}, false);
  }

  void Answered(const HttpResponse& reply) {
    Outcome outcome = Outcome::kAnswered;
    AnswerFacts facts;
    if (reply.status == 429 || reply.status == 503) {
      outcome = Outcome::kRejected;
    } else if (reply.status != 200) {
      outcome = Outcome::kError;
    } else if (target_->options_.read_facts) {
      const auto read = target_->facts_reader_.Read(reply.body);
      if (read) facts = *read;
      if (!read) outcome = Outcome::kError;
    }
    if (reply.status == 200 && target_->options_.on_answer) {
      target_->options_.on_answer(request_, reply.body);
    }
    if (reply.status != 200 && target_->options_.on_refusal) {
      target_->options_.on_refusal(request_, reply.status, reply.body);
    }
    End(outcome, facts, reader_.keep_alive() && stream_ != nullptr);
  }

  void End(Outcome outcome, const AnswerFacts& facts, bool usable) {
    const auto self = shared_from_this();
    HttpTarget* const target = target_;
    const bool was_busy = std::exchange(busy_, false);
    fresh_ = false;
    if (!usable) target->Remove(this);
    if (was_busy) target->Ended(usable ? this : nullptr, request_, outcome, facts);
  }

  HttpTarget* target_;
  const size_t server_;
  std::unique_ptr<Stream> stream_;
  neptune::HttpResponseReader reader_;
  uint32_t request_ = 0;
  bool busy_ = false;
  bool fresh_ = false;      // the request is the connection's first
  bool got_bytes_ = false;  // since the request was sent
};

HttpTarget::HttpTarget(neptune::Loop& loop, const ReplayPlan& plan, HttpTargetOptions options)
    : loop_(loop), plan_(plan), options_(std::move(options)), idle_(options_.servers.size()) {
  for (const std::string& query : plan.queries) {
    encoded_queries_.push_back(neptune::PercentEncode(query));
  }
  for (const Endpoint& server : options_.servers) {
    heads_.push_back(
        neptune::StrCat(" HTTP/1.1\r\nHost: ", server.ToString(), "\r\n", options_.headers));
  }
  for (const std::string& name : plan.classes) {
    tails_.push_back(options_.send_class
                         ? neptune::StrCat("Neptune-Service-Class: ", name, "\r\n\r\n")
                         : std::string("\r\n"));
  }
}

HttpTarget::~HttpTarget() {
  for (auto& [connection, owned] : connections_) connection->Abandon();
}

std::string HttpTarget::RequestText(const PlannedRequest& planned, size_t server) const {
  const std::string& query = encoded_queries_[planned.query];
  const std::string& head = heads_[server];
  const std::string& tail = tails_[planned.service_class];
  std::string text;
  text.reserve(4 + options_.path.size() + query.size() + head.size() + tail.size());
  text += "GET ";
  text += options_.path;
  text += query;
  text += head;
  text += tail;
  return text;
}

HttpTarget::Connection* HttpTarget::FreeConnection(size_t server) {
  std::vector<Connection*>& idle = idle_[server];
  if (!idle.empty()) {
    Connection* const connection = idle.back();
    idle.pop_back();
    return connection;
  }
  if (connections_.size() >= options_.connection_count_max) return nullptr;
  auto connection = std::make_shared<Connection>(this, server);
  Connection* const raw = connection.get();
  connections_.emplace(raw, std::move(connection));
  return raw;
}

bool HttpTarget::Send(uint32_t request, const PlannedRequest& planned, RequestSink* sink) {
  sink_ = sink;
  const size_t server = next_server_;
  Connection* const connection = held_.empty() ? FreeConnection(server) : nullptr;
  if (connection == nullptr) {
    held_.push_back(request);
    return false;
  }
  next_server_ = (next_server_ + 1) % options_.servers.size();
  busy_[request] = connection;
  connection->Send(request, RequestText(planned, server));
  return true;
}

void HttpTarget::SendHeld() {
  while (!held_.empty()) {
    const size_t server = next_server_;
    Connection* const connection = FreeConnection(server);
    if (connection == nullptr) return;
    next_server_ = (next_server_ + 1) % options_.servers.size();
    const uint32_t request = held_.front();
    held_.pop_front();
    sink_->Sent(request);
    busy_[request] = connection;
    connection->Send(request, RequestText(plan_.requests[request], server));
  }
}

void HttpTarget::Retry(uint32_t request, size_t server) {
  Remove(busy_[request]);
  Connection* const connection = FreeConnection(server);
  busy_[request] = connection;
  connection->Send(request, RequestText(plan_.requests[request], server));
}

void HttpTarget::Ended(Connection* connection, uint32_t request, Outcome outcome,
                       const AnswerFacts& facts) {
  busy_.erase(request);
  if (connection != nullptr) idle_[connection->server()].push_back(connection);
  SendHeld();
  sink_->Done(request, outcome, facts);
}

void HttpTarget::Remove(Connection* connection) {
  const auto entry = connections_.find(connection);
  if (entry == connections_.end()) return;
  std::erase(idle_[connection->server()], connection);
  const std::shared_ptr<Connection> kept = std::move(entry->second);
  connections_.erase(entry);
  kept->Abandon();
}

void HttpTarget::Abandon(uint32_t request) {
  const auto entry = busy_.find(request);
  if (entry == busy_.end()) {
    // Requests are given up in the order in which they were held: it is the first one.
    const auto held = std::find(held_.begin(), held_.end(), request);
    if (held != held_.end()) held_.erase(held);
    return;
  }
  Connection* const connection = entry->second;
  busy_.erase(entry);
  Remove(connection);
  SendHeld();
}

}  // namespace search::tools
