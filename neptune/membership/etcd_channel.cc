#include "neptune/membership/etcd_channel.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/membership/etcd_messages.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/security/tls_stream.h"
#include "neptune/wire/http/message_writer.h"
#include "neptune/wire/http/response_reader.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr Duration kLogInterval = std::chrono::minutes(1);
constexpr int kDoublingsMax = 16;

enum class Step { kNone, kAuthenticate, kGrant, kKeepAlive, kPut, kRange };

// A limit of one log line per kLogInterval.
class LogLimit {
 public:
  bool Allows(TimePoint now) {
    if (last_ && now < *last_ + kLogInterval) return false;
    last_ = now;
    return true;
  }

 private:
  std::optional<TimePoint> last_;
};

// A time between half of `delay` and all of it.
Duration Jittered(Duration delay, Loop& loop) {
  const auto half = static_cast<uint64_t>(delay.count()) / 2;
  return delay / 2 + Duration(loop.random().Below(half + 1));
}

// The server in use, and the delay before the next attempt.
class EtcdServers {
 public:
  EtcdServers(const EtcdChannelOptions& options, size_t first) : options_(options), index_(first) {}

  const Endpoint& current() const { return options_.endpoints[index_]; }
  // Changes to the next server. The returned delay is doubled each time that all have failed.
  Duration Fail() {
    const size_t count = options_.endpoints.size();
    const int doublings = std::min<int>(failure_count_++ / count, kDoublingsMax);
    index_ = (index_ + 1) % count;
    return std::min(options_.retry_min * (1 << doublings), options_.retry_max);
  }
  void Succeed() { failure_count_ = 0; }

 private:
  const EtcdChannelOptions& options_;
  size_t index_;
  uint32_t failure_count_ = 0;
};

// The position of a poll, which reads the changed announcements page by page.
class EtcdPoll {
 public:
  explicit EtcdPoll(const std::string& prefix) : begin_(prefix), end_(EtcdPrefixEnd(prefix)) {}

  EtcdRequest Request() const { return EtcdRangeRequest(From(), end_, seen_revision_ + 1); }
  // Handles a page; true: it was the last one, and the next request begins a new poll.
  // Errors: kInvalidArgument the page is not of the range that was requested.
  StatusOr<bool> Advance(const EtcdPage& page) {
    entry_count_ += page.values.size() + page.refused_count;
    if (next_key_.empty()) revision_ = page.revision;
    if (page.more && page.last_key < From()) {
      return InvalidArgument("etcd answered with keys that were not requested");
    }
    if (page.more && entry_count_ < kDirectoryEntryCountMax) {
      next_key_ = page.last_key + '\0';
      return false;
    }
    // A store with a smaller revision was replaced or emptied; everything in it is new.
    seen_revision_ = revision_ < seen_revision_ ? 0 : revision_;
    Restart();
    return true;
  }
  void Restart() {
    next_key_.clear();
    entry_count_ = 0;
  }

 private:
  const std::string& From() const { return next_key_.empty() ? begin_ : next_key_; }

  const std::string begin_;
  const std::string end_;
  int64_t seen_revision_ = 0;
  int64_t revision_ = 0;  // these three are of the poll in progress
  std::string next_key_;  // empty: start of the range
  size_t entry_count_ = 0;
};

// Runs one request at a time. Shared with a connection attempt in progress.
class EtcdAgent final : public StreamHandler, public std::enable_shared_from_this<EtcdAgent> {
 public:
  EtcdAgent(Loop& loop, EtcdChannelOptions options, AnnouncementChannel::Handler on_message)
      : loop_(loop),
        options_(std::move(options)),
        on_message_(std::move(on_message)),
        servers_(options_, loop.random().Below(options_.endpoints.size())),
        poll_(options_.prefix) {
    if (options_.keys != nullptr) mac_ = std::make_unique<ClusterMac>(*options_.keys);
    poll_at_ = loop_.Now();
  }

  void Publish(std::string_view bytes) {
    announcement_ = mac_ == nullptr ? std::string(bytes) : SealDatagram(bytes, *mac_);
    put_due_ = true;
    Advance();
  }

  // Starts the next request, if one is due and none is in progress.
  void Advance() {
    if (closed_ || step_ != Step::kNone) return;
    const TimePoint now = loop_.Now();
    if (now < retry_at_) return Wake(retry_at_);
    if (!options_.user.empty() && token_.empty()) return Begin(Step::kAuthenticate);
    // Alternate, so that failing writes, for example to a full store, do not prevent reads, or vice
    // versa.
    if (now >= poll_at_ && last_step_ != Step::kRange) return Begin(Step::kRange);
    if (put_due_ && lease_ == 0) return Begin(Step::kGrant);
    if (lease_ != 0 && now >= keep_alive_at_) return Begin(Step::kKeepAlive);
    if (put_due_) return Begin(Step::kPut);
    if (now >= poll_at_) return Begin(Step::kRange);
    Wake(lease_ == 0 ? poll_at_ : std::min(poll_at_, keep_alive_at_));
  }

  void Close() {
    closed_ = true;
    CancelTimer();
    securing_.reset();
    stream_.reset();
  }

 private:
  void OnData(std::string_view bytes) override {
    const auto self = shared_from_this();
    if (step_ == Step::kNone) return stream_.reset();  // unsolicited bytes
    reader_->Feed(bytes);
    HandleAnswer();
  }

  void OnClosed(const Status& reason) override {
    const auto self = shared_from_this();
    if (step_ != Step::kNone) {
      reader_->FeedEnd();
      HandleAnswer();
    }
    if (step_ != Step::kNone) {
      return Fail(Unavailable("closed without an answer: ", ToStd(reason.message())));
    }
    stream_.reset();
  }

  void CancelTimer() {
    if (timer_ != 0) loop_.CancelTimer(std::exchange(timer_, 0));
  }

  void RunAt(TimePoint when, void (EtcdAgent::*what)()) {
    CancelTimer();
    timer_ = loop_.RunAt(when, [this, what] {
      timer_ = 0;
      const auto self = shared_from_this();
      (this->*what)();
    });
  }

  void Wake(TimePoint when) { RunAt(when, &EtcdAgent::Advance); }
  void Expire() { Fail(DeadlineExceeded("no answer in time")); }

  void Begin(Step step) {
    step_ = step;
    if (step != Step::kAuthenticate) last_step_ = step;
    ++request_number_;
    const TimePoint deadline = loop_.Now() + options_.request_timeout;
    RunAt(deadline, &EtcdAgent::Expire);
    if (step == Step::kPut) put_due_ = false;
    if (stream_ != nullptr) return Send();
    loop_.network().Connect(servers_.current(), deadline,
                            [weak = weak_from_this(),
                             number = request_number_](StatusOr<std::unique_ptr<Stream>> stream) {
                              const auto self = weak.lock();
                              if (self != nullptr) self->HandleStream(number, std::move(stream));
                            });
  }

  void HandleStream(uint64_t number, StatusOr<std::unique_ptr<Stream>> stream) {
    if (closed_ || step_ == Step::kNone || number != request_number_) return;
    if (!stream.ok()) return Fail(stream.status());
    if (options_.tls == nullptr) return Use(*std::move(stream));
    std::string address = servers_.current().ToString();
    address.resize(address.rfind(':'));
    securing_ = std::make_unique<TlsStream>(loop_, *std::move(stream), *options_.tls,
                                            /*accepts=*/false, address);
    securing_->Secure([weak = weak_from_this(), number](const Status& status) {
      const auto self = weak.lock();
      if (self != nullptr) self->HandleSecured(number, status);
    });
  }

  void HandleSecured(uint64_t number, const Status& status) {
    if (closed_ || step_ == Step::kNone || number != request_number_) return;
    if (!status.ok()) return Fail(status);
    Use(std::move(securing_));
  }

  void Use(std::unique_ptr<Stream> stream) {
    stream_ = std::move(stream);
    reader_ = std::make_unique<HttpResponseReader>(
        HttpResponseReaderOptions{.body_size_max = kEtcdAnswerSizeMax});
    stream_->Start(this);
    Send();
  }

  EtcdRequest Request() const {
    switch (step_) {
      case Step::kAuthenticate:
        return EtcdAuthenticateRequest(options_.user, options_.password);
      case Step::kGrant:
        return EtcdGrantRequest(options_.lease_ttl);
      case Step::kKeepAlive:
        return EtcdKeepAliveRequest(lease_);
      case Step::kPut:
        return EtcdPutRequest(options_.prefix + options_.node, announcement_, lease_);
      default:
        return poll_.Request();
    }
  }

  void Send() {
    const EtcdRequest request = Request();
    HttpHeaders headers = {{"Content-Type", "application/json"}};
    if (!token_.empty()) headers.Add("Authorization", token_);
    reader_->Expect("POST");
    stream_->Write(SerializeHttpRequest("POST", request.target, servers_.current().ToString(),
                                        headers, request.body));
  }

  void HandleAnswer() {
    const StatusOr<std::optional<HttpResponse>> next = reader_->Next();
    if (!next.ok()) return Fail(next.status());
    if (!next->has_value()) return;
    const HttpResponse& answer = **next;
    if (EqualsIgnoringCase(answer.headers.Get("Connection"), "close")) stream_.reset();
    CancelTimer();
    const Step step = std::exchange(step_, Step::kNone);
    const Status status = Take(step, answer);
    if (closed_) return;
    if (status.code() == StatusCode::kNotFound && step != Step::kRange) {
      LoseLease(status);
    } else if (!status.ok()) {
      if (step == Step::kPut) put_due_ = true;
      return Fail(status);
    }
    Advance();
  }

  Status Take(Step step, const HttpResponse& answer) {
    if (step == Step::kAuthenticate) {
      NEPTUNE_ASSIGN_OR_RETURN(token_, ReadEtcdToken(answer));
      return OkStatus();
    }
    if (step == Step::kRange) return HandlePage(answer);
    const TimePoint renewed_at = loop_.Now() + Duration(options_.lease_ttl) / 3;
    if (step == Step::kPut) return ReadEtcdPut(answer);
    if (step == Step::kKeepAlive) {
      NEPTUNE_RETURN_IF_ERROR(ReadEtcdKeepAlive(answer));
    } else {
      NEPTUNE_ASSIGN_OR_RETURN(lease_, ReadEtcdGrant(answer));
    }
    keep_alive_at_ = renewed_at;
    return OkStatus();
  }

  // A new lease is not requested at once, because the server might drop each one.
  void LoseLease(const Status& why) {
    lease_ = 0;
    put_due_ = true;
    retry_at_ = loop_.Now() + options_.retry_min;
    LOG_IF(WARNING, lease_log_.Allows(loop_.Now()))
        << "the directory at " << servers_.current()
        << " has lost this node's lease, which is renewed: " << why;
  }

  Status HandlePage(const HttpResponse& answer) {
    NEPTUNE_ASSIGN_OR_RETURN(const EtcdPage page, ReadEtcdRange(answer));
    NEPTUNE_ASSIGN_OR_RETURN(const bool was_last, poll_.Advance(page));
    if (was_last) EndPoll();
    if (page.refused_count > 0) Refuse(page.refused_count, "not base64, or too large");
    for (const std::string& value : page.values) Receive(value);
    return OkStatus();
  }

  void EndPoll() {
    poll_at_ = loop_.Now() + Jittered(options_.poll_interval, loop_);
    if (options_.metrics.available != nullptr) options_.metrics.available->Set(1);
    LOG_IF(INFO, failed_logged_) << "the directory at " << servers_.current() << " answers again";
    failed_logged_ = false;
    servers_.Succeed();
  }

  void Receive(const std::string& value) {
    if (closed_) return;
    if (mac_ == nullptr) return on_message_(value);
    const StatusOr<std::string_view> opened = OpenDatagramSeal(value, *mac_);
    if (opened.ok()) return on_message_(*opened);
    Refuse(1, ToStd(opened.status().message()));
  }

  void Refuse(size_t count, std::string_view why) {
    if (options_.metrics.refused != nullptr) options_.metrics.refused->Increment(count);
    LOG_IF(WARNING, refused_log_.Allows(loop_.Now()))
        << count << " entries under " << options_.prefix << " of the directory at "
        << servers_.current() << " are not announcements of this cluster: " << why;
  }

  void Fail(const Status& why) {
    CancelTimer();
    securing_.reset();
    stream_.reset();
    token_.clear();  // it may have expired, or another server may not know it
    if (step_ == Step::kPut) put_due_ = true;
    step_ = Step::kNone;
    poll_.Restart();
    if (options_.metrics.failures != nullptr) options_.metrics.failures->Increment();
    if (options_.metrics.available != nullptr) options_.metrics.available->Set(0);
    if (failed_log_.Allows(loop_.Now())) {
      failed_logged_ = true;
      LOG(WARNING) << "the directory at " << servers_.current()
                   << " cannot be used, known nodes are kept: " << why;
    }
    retry_at_ = loop_.Now() + Jittered(servers_.Fail(), loop_);
    Advance();
  }

  Loop& loop_;
  const EtcdChannelOptions options_;
  AnnouncementChannel::Handler on_message_;
  EtcdServers servers_;
  EtcdPoll poll_;
  std::unique_ptr<ClusterMac> mac_;
  std::unique_ptr<LayeredStream> securing_;  // null unless its handshake is in progress
  std::unique_ptr<Stream> stream_;
  std::string token_;                           // empty: none
  std::unique_ptr<HttpResponseReader> reader_;  // reads the stream
  Step step_ = Step::kNone;                     // in progress
  Step last_step_ = Step::kNone;
  uint64_t request_number_ = 0;
  TimerId timer_ = 0;  // timeout of the request, or start of the next one
  std::string announcement_;
  bool put_due_ = false;
  bool closed_ = false;
  int64_t lease_ = 0;  // 0: none
  TimePoint keep_alive_at_ = kNever;
  TimePoint poll_at_;
  TimePoint retry_at_{};
  LogLimit failed_log_;
  LogLimit refused_log_;
  LogLimit lease_log_;
  bool failed_logged_ = false;  // and the directory has not answered since
};

class EtcdChannel final : public AnnouncementChannel {
 public:
  explicit EtcdChannel(std::shared_ptr<EtcdAgent> agent) : agent_(std::move(agent)) {}
  ~EtcdChannel() override { agent_->Close(); }
  void Publish(std::string_view bytes) override { agent_->Publish(bytes); }

 private:
  const std::shared_ptr<EtcdAgent> agent_;
};

}  // namespace

StatusOr<std::unique_ptr<AnnouncementChannel>> OpenEtcdChannel(
    Loop& loop, EtcdChannelOptions options, AnnouncementChannel::Handler on_message) {
  if (options.endpoints.empty() || options.endpoints.size() > kDirectoryEndpointCountMax) {
    return InvalidArgument("a directory has 1 to ", kDirectoryEndpointCountMax, " endpoints, not ",
                           options.endpoints.size());
  }
  if (!options.prefix.ends_with('/')) {
    return InvalidArgument("the directory's prefix '", options.prefix, "' does not end in '/'");
  }
  auto agent = std::make_shared<EtcdAgent>(loop, std::move(options), std::move(on_message));
  agent->Advance();
  return std::make_unique<EtcdChannel>(std::move(agent));
}

}  // namespace neptune
