// Reading waits for readiness and then reads into the loop's one buffer, so an idle connection
// holds no memory. What is written during a turn of the loop leaves in one system call at its end.

#include "neptune/world/real/real_stream.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <string>
#include <utility>

#include "neptune/world/real/asio_edge.h"
#include "neptune/world/real/real_loop.h"

namespace neptune {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

// Bytes handed over in one event before the loop's other sockets get a turn.
constexpr size_t kReadSizeMax = 256 * 1024;

// Lives as long as an operation of the poller refers to it; the Stream itself may be gone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(RealLoop& loop, tcp::socket socket) : loop_(loop), socket_(std::move(socket)) {
    error_code error;
    peer_ = FromAsio(socket_.remote_endpoint(error));
    socket_.set_option(tcp::no_delay(true), error);
    socket_.non_blocking(true, error);
  }

  void Start(StreamHandler* handler) {
    handler_ = handler;
    WaitReadable();
  }

  void Write(std::string bytes) {
    if (ended_ || closing_) return;
    if (pending_.empty()) {
      pending_ = std::move(bytes);
    } else {
      pending_ += bytes;
    }
    had_unsent_ = true;
    ScheduleFlush();
  }

  void SetReading(bool on) {
    reading_ = on;
    if (on) WaitReadable();
  }

  // No event reaches the handler any more; queued bytes still leave.
  void Close() {
    handler_ = nullptr;
    closing_ = true;
    if (pending_.size() == sent_) Shut();
  }

  void Abandon() {
    handler_ = nullptr;
    Shut();
  }

  size_t unsent_size() const { return pending_.size() - sent_; }
  Endpoint peer() const { return peer_; }

 private:
  void WaitReadable() {
    if (waiting_readable_ || !reading_ || ended_ || handler_ == nullptr) return;
    waiting_readable_ = true;
    socket_.async_wait(tcp::socket::wait_read,
                       [self = shared_from_this()](const error_code& error) {
                         self->waiting_readable_ = false;
                         if (!error) self->ReadSome();
                       });
  }

  void ReadSome() {
    auto& buffer = loop_.read_buffer();
    for (size_t total = 0; total < kReadSizeMax && reading_ && handler_ != nullptr;) {
      error_code error;
      const size_t size = socket_.read_some(boost::asio::buffer(buffer), error);
      if (error == boost::asio::error::would_block) break;
      if (error)
        return End(error == boost::asio::error::eof ? OkStatus() : FromErrorCode(error, Doing()));
      handler_->OnData({buffer.data(), size});
      total += size;
      if (size < buffer.size()) break;
    }
    WaitReadable();
  }

  void ScheduleFlush() {
    if (flush_scheduled_ || waiting_writable_) return;
    flush_scheduled_ = true;
    loop_.Post([self = shared_from_this()] {
      self->flush_scheduled_ = false;
      self->Flush();
    });
  }

  void Flush() {
    if (ended_) return;
    while (sent_ < pending_.size()) {
      error_code error;
      sent_ += socket_.write_some(
          boost::asio::buffer(pending_.data() + sent_, pending_.size() - sent_), error);
      if (error == boost::asio::error::would_block) return WaitWritable();
      if (error) return End(FromErrorCode(error, Doing()));
    }
    pending_.clear();
    sent_ = 0;
    if (closing_) return Shut();
    if (std::exchange(had_unsent_, false) && handler_ != nullptr) handler_->OnDrained();
  }

  void WaitWritable() {
    pending_.erase(0, std::exchange(sent_, 0));
    waiting_writable_ = true;
    socket_.async_wait(tcp::socket::wait_write,
                       [self = shared_from_this()](const error_code& error) {
                         self->waiting_writable_ = false;
                         if (!error) self->Flush();
                       });
  }

  void End(const Status& reason) {
    if (ended_) return;
    Shut();
    if (StreamHandler* handler = std::exchange(handler_, nullptr)) handler->OnClosed(reason);
  }

  void Shut() {
    ended_ = true;
    pending_.clear();
    sent_ = 0;
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  std::string Doing() const { return "connection to " + peer_.ToString(); }

  RealLoop& loop_;
  tcp::socket socket_;
  Endpoint peer_;
  StreamHandler* handler_ = nullptr;
  std::string pending_;  // bytes to send; the first sent_ of them are gone
  size_t sent_ = 0;
  bool reading_ = true;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool flush_scheduled_ = false;
  bool had_unsent_ = false;
  bool closing_ = false;
  bool ended_ = false;
};

class RealStream final : public Stream {
 public:
  RealStream(RealLoop& loop, tcp::socket socket)
      : connection_(std::make_shared<Connection>(loop, std::move(socket))) {}
  ~RealStream() override {
    if (!closed_) connection_->Abandon();
  }

  void Start(StreamHandler* handler) override { connection_->Start(handler); }
  void Write(std::string bytes) override { connection_->Write(std::move(bytes)); }
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

std::unique_ptr<Stream> MakeRealStream(RealLoop& loop, tcp::socket socket) {
  return std::make_unique<RealStream>(loop, std::move(socket));
}

}  // namespace neptune
