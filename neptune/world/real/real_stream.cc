// Bytes are read when available into the loop's single buffer, so an idle connection holds no
// memory. Bytes written during a turn of the loop are sent with one system call at its end. A large
// write keeps its own buffer, which is freed once it is sent; it is not copied behind others.

#include "neptune/world/real/real_stream.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <list>
#include <string>
#include <utility>

#include "neptune/world/real/descriptor_poller.h"
#include "neptune/world/real/real_loop.h"
#include "neptune/world/real/socket_edge.h"

namespace neptune {
namespace {

// Maximum bytes delivered in one event before the loop's other sockets get a turn, unless the turn
// is over before.
constexpr size_t kReadSizeMax = 256 * 1024;
// The peer has closed its side, or the connection is broken; reading determines which.
constexpr uint32_t kEndEvents = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr uint32_t kReadEvents = EPOLLIN | EPOLLRDHUP | EPOLLET;
// Writes are gathered in pieces up to this size; a larger one is a piece of its own.
constexpr size_t kPieceSizeMax = 64 * 1024;

// Lives until it is shut; the Stream itself may be destroyed earlier, while queued bytes are sent.
class Connection final : public DescriptorPoller::Watcher,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(RealLoop& loop, const ConnectedSocket& from)
      : loop_(loop),
        socket_(from.socket),
        peer_(from.peer),
        readable_(from.accepted),
        delays_(!from.accepted) {}

  ~Connection() override {
    if (!ended_) close(socket_);  // destroyed with its loop
  }

  void Register() {
    loop_.descriptor_poller().AddAtEndOfTurn(socket_, kReadEvents, shared_from_this());
  }

  void Start(StreamHandler* handler) {
    handler_ = handler;
    if (readable_) ReadLater();
  }

  void Write(std::string bytes) {
    if (ended_ || closing_) return;
    if (pending_.empty()) {
      pending_ = std::move(bytes);
    } else if (later_.empty() && pending_.size() + bytes.size() <= kPieceSizeMax) {
      pending_ += bytes;
    } else {
      WriteLater(std::move(bytes));
    }
    had_unsent_ = true;
    ScheduleFlush();
  }

  void WriteWith(absl::FunctionRef<void(std::string*)> append) {
    if (ended_ || closing_) return;
    if (later_.empty() && pending_.size() < kPieceSizeMax) {
      if (pending_.empty()) pending_ = loop_.spare_buffers().Take();
      append(&pending_);
    } else {
      std::string bytes = loop_.spare_buffers().Take();
      append(&bytes);
      WriteLater(std::move(bytes));
    }
    had_unsent_ = true;
    ScheduleFlush();
  }

  std::string TakeBuffer() { return loop_.spare_buffers().Take(); }

  void SetReading(bool on) {
    reading_ = on;
    if (on && readable_) ReadLater();
  }

  // Detaches the handler; queued bytes are still sent.
  void Close() {
    handler_ = nullptr;
    closing_ = true;
    if (unsent_size() == 0) Shut();
  }

  void Abandon() {
    handler_ = nullptr;
    Shut();
  }

  size_t unsent_size() const { return pending_.size() - sent_ + later_size_; }
  Endpoint peer() const { return peer_; }

 private:
  void OnReady(uint32_t events) override {
    const auto self = shared_from_this();
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0 && std::exchange(full_, false)) Flush();
    if ((events & (EPOLLIN | kEndEvents)) == 0) return;
    readable_ = true;
    ended_by_peer_ |= (events & kEndEvents) != 0;
    ReadSome();
  }

  void OnRefused(const Status& reason) override { End(reason); }

  void ReadLater() {
    if (std::exchange(read_posted_, true)) return;
    loop_.Post([self = shared_from_this()] {
      self->read_posted_ = false;
      self->ReadSome();
    });
  }

  void ReadSome() {
    auto& buffer = loop_.read_buffer();
    for (size_t total = 0; readable_ && reading_ && handler_ != nullptr;) {
      if (total >= kReadSizeMax) return ReadLater();
      const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        readable_ = false;
        return;
      }
      if (size <= 0)
        return End(size == 0 ? OkStatus() : FromErrno("connection to " + peer_.ToString()));
      // The socket is empty, and more bytes cause a new event; an end of stream that came with the
      // last bytes does not.
      if (static_cast<size_t>(size) < buffer.size() && !ended_by_peer_) readable_ = false;
      handler_->OnData({buffer.data(), static_cast<size_t>(size)});
      total += static_cast<size_t>(size);
      if (readable_ && loop_.PartIsOver()) return ReadLater();
    }
  }

  void ScheduleFlush() {
    if (flush_scheduled_ || full_) return;
    flush_scheduled_ = true;
    loop_.Post([self = shared_from_this()] {
      self->flush_scheduled_ = false;
      self->Flush();
    });
  }

  // Queues a piece after those before it; small ones share a piece.
  void WriteLater(std::string bytes) {
    later_size_ += bytes.size();
    if (!later_.empty() && later_.back().size() + bytes.size() <= kPieceSizeMax) {
      later_.back() += bytes;
    } else {
      later_.push_back(std::move(bytes));
    }
  }

  // Makes the next piece the one that is sent; false: there is none. REQUIRES: all of pending_ is
  // sent.
  bool TakeNextPiece() {
    sent_ = 0;
    loop_.spare_buffers().GiveBack(std::exchange(pending_, {}));
    if (later_.empty()) return false;
    pending_ = std::move(later_.front());
    later_.pop_front();
    later_size_ -= pending_.size();
    return true;
  }

  void DropUnsent() {
    std::string().swap(pending_);
    later_.clear();
    sent_ = later_size_ = 0;
  }

  void Flush() {
    if (ended_) return;
    while (sent_ < pending_.size() || TakeNextPiece()) {
      const int flags = MSG_NOSIGNAL | (later_.empty() ? 0 : MSG_MORE);
      const ssize_t size = send(socket_, pending_.data() + sent_, pending_.size() - sent_, flags);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        // The rest is moved to the front when it is the smaller half, so each byte moves rarely.
        if (sent_ > pending_.size() / 2) pending_.erase(0, std::exchange(sent_, 0));
        full_ = true;
        return loop_.descriptor_poller().Change(socket_, kReadEvents | EPOLLOUT, this);
      }
      if (size < 0) return End(FromErrno("connection to " + peer_.ToString()));
      sent_ += static_cast<size_t>(size);
    }
    // The first bytes need not wait for earlier ones, so TCP_NODELAY is only set after they have
    // been sent.
    if (std::exchange(delays_, false)) DelayNoMore();
    if (closing_) return Shut();
    if (std::exchange(had_unsent_, false) && handler_ != nullptr) handler_->OnDrained();
  }

  void DelayNoMore() const {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }

  void End(const Status& reason) {
    if (ended_) return;
    Shut();
    if (StreamHandler* handler = std::exchange(handler_, nullptr)) handler->OnClosed(reason);
  }

  void Shut() {
    if (std::exchange(ended_, true)) return;
    DropUnsent();
    loop_.descriptor_poller().Close(socket_, this);
  }

  RealLoop& loop_;
  const int socket_;
  const Endpoint peer_;
  StreamHandler* handler_ = nullptr;
  std::string pending_;  // bytes to send; the first sent_ of them have been sent
  size_t sent_ = 0;
  std::list<std::string> later_;  // pieces to send after those; an empty list holds no memory
  size_t later_size_ = 0;
  bool reading_ = true;
  bool readable_;  // there may be bytes that no further event will report
  bool delays_;    // Nagle's algorithm is on; accepted sockets inherit TCP_NODELAY
  bool ended_by_peer_ = false;
  bool read_posted_ = false;
  bool full_ = false;  // the system accepts no more bytes until the next writable event
  bool flush_scheduled_ = false;
  bool had_unsent_ = false;
  bool closing_ = false;
  bool ended_ = false;
};

class RealStream final : public Stream {
 public:
  RealStream(RealLoop& loop, const ConnectedSocket& from)
      : connection_(std::make_shared<Connection>(loop, from)) {
    connection_->Register();
  }
  ~RealStream() override {
    if (!closed_) connection_->Abandon();
  }

  void Start(StreamHandler* handler) override { connection_->Start(handler); }
  void Write(std::string bytes) override { connection_->Write(std::move(bytes)); }
  void WriteWith(absl::FunctionRef<void(std::string*)> append) override {
    connection_->WriteWith(append);
  }
  std::string TakeBuffer() override { return connection_->TakeBuffer(); }
  size_t unsent_size() const override { return connection_->unsent_size(); }
  void SetReading(bool on) override { connection_->SetReading(on); }
  void Close() override {
    closed_ = true;
    connection_->Close();
  }
  Endpoint peer() const override { return connection_->peer(); }

 private:
  const std::shared_ptr<Connection> connection_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<Stream> MakeRealStream(RealLoop& loop, const ConnectedSocket& from) {
  return std::make_unique<RealStream>(loop, from);
}

}  // namespace neptune
