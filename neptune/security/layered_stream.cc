#include "neptune/security/layered_stream.h"

#include <utility>

#include "neptune/base/strings.h"

namespace neptune {

void LayeredStream::Secure(Done done) {
  done_ = std::move(done);
  below_->Start(this);
  Begin();
}

void LayeredStream::Start(StreamHandler* handler) {
  handler_ = handler;
  SetReading(true);
}

void LayeredStream::SetReading(bool on) {
  reading_ = on;
  if (on && (!kept_.empty() || ended_)) return DeliverKeptSoon();
  if (below_ != nullptr) below_->SetReading(on);
}

void LayeredStream::Close() {
  handler_ = nullptr;
  if (below_ != nullptr) below_->Close();
}

void LayeredStream::Secured(std::string_view rest) {
  kept_ = rest;
  below_->SetReading(false);  // until the owner starts
  std::exchange(done_, nullptr)(OkStatus());
}

void LayeredStream::Fail(const Status& why) {
  // Bytes already written are still sent: they tell the peer the reason.
  if (below_ != nullptr) below_->Close();
  std::exchange(done_, nullptr)(why);
}

void LayeredStream::Deliver(std::string_view bytes) {
  if (handler_ != nullptr && reading_ && kept_.empty()) return handler_->OnData(bytes);
  kept_ += bytes;
}

void LayeredStream::EndOpen(std::string_view bytes, const Status& reason) {
  if (ended_) return;
  kept_ += bytes;
  ended_ = reason;
  DeliverKept();
}

void LayeredStream::OnClosed(const Status& reason) {
  if (securing()) {
    return Fail(Unavailable("the peer closed the connection during the security handshake: ",
                            reason.ok() ? "closed" : reason.message()));
  }
  EndOpen("", EndOf(reason));
}

void LayeredStream::DeliverKeptSoon() {
  if (std::exchange(posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    posted_ = false;
    DeliverKept();
  });
}

void LayeredStream::DeliverKept() {
  if (handler_ == nullptr) return;
  const std::shared_ptr<bool> alive = alive_;
  if (!kept_.empty() && reading_) {
    const std::string bytes = std::exchange(kept_, {});
    handler_->OnData(bytes);
    if (!*alive || handler_ == nullptr) return;
  }
  if (!kept_.empty() || !reading_) return;
  if (ended_) return std::exchange(handler_, nullptr)->OnClosed(*ended_);
  if (below_ != nullptr) below_->SetReading(true);
}

}  // namespace neptune
