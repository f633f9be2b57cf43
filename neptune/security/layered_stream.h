// A stream on top of another one that must be secured before it passes data.
//
//   owner ─Start, Write─► LayeredStream ─► Stream below
//                             │ Begin, HandleBelow: the variant (KeyedStream, TlsStream)
//
// Threads: only the loop of the stream below.
// Errors: from Secure: kUnavailable the peer closed the connection or failed the handshake.
// Limits: buffers at most one read of the stream below.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace neptune {

class LayeredStream : public Stream, private StreamHandler {
 public:
  // Called with OK, or the reason why the stream cannot be used. The callee may destroy the stream.
  using Done = absl::AnyInvocable<void(const Status&)>;

  LayeredStream(Loop& loop, std::unique_ptr<Stream> below)
      : loop_(loop), below_(std::move(below)), peer_(below_->peer()) {}

  // Starts the handshake. `done` is called once, never inside this call, and not after the stream
  // has been destroyed.
  void Secure(Done done);

  // REQUIRES for the following: Secure succeeded.
  void Start(StreamHandler* handler) override;
  void Write(std::string bytes) override { WriteBelow(std::move(bytes)); }
  size_t unsent_size() const override { return below_ == nullptr ? 0 : below_->unsent_size(); }
  void SetReading(bool on) override;
  void Close() override;
  Endpoint peer() const override { return peer_; }
  std::optional<std::string> peer_name() const override {
    return below_ == nullptr ? std::nullopt : below_->peer_name();
  }
  bool is_encrypted() const override { return below_ != nullptr && below_->is_encrypted(); }

  // Secured streams only: bytes that identify exactly this connection, for proofs about it; empty
  // if there are none.
  virtual std::string Binding() const { return ""; }

 protected:
  // Sends the first bytes of the handshake, if any.
  virtual void Begin() = 0;
  // Handles bytes from below. During the handshake it ends with Secured or Fail or neither, later
  // with Deliver. These must be its last call, because the owner may destroy the stream.
  virtual void HandleBelow(std::string_view bytes) = 0;
  // Maps the reason why the peer ended an open stream to the status for the owner.
  virtual Status EndOf(const Status& reason) const { return reason; }

  bool securing() const { return done_ != nullptr; }
  Loop& loop() { return loop_; }
  Stream* below() { return below_.get(); }
  // False once the stream is destroyed; checked by posted tasks.
  const std::shared_ptr<bool>& alive() const { return alive_; }
  void WriteBelow(std::string bytes) {
    if (below_ != nullptr) below_->Write(std::move(bytes));
  }
  // The handshake is complete; `rest` are the bytes that followed it.
  void Secured(std::string_view rest);
  void Fail(const Status& why);
  // Passes bytes to the owner, or keeps them until it reads.
  void Deliver(std::string_view bytes);
  // Passes the remaining bytes to the owner, then reports the end of the open stream.
  void EndOpen(std::string_view bytes, const Status& reason);

 private:
  void OnData(std::string_view bytes) override { HandleBelow(bytes); }
  void OnClosed(const Status& reason) override;
  void OnDrained() override {
    if (handler_ != nullptr) handler_->OnDrained();
  }
  void DeliverKeptSoon();
  void DeliverKept();

  Loop& loop_;
  std::unique_ptr<Stream> below_;
  const Endpoint peer_;
  Done done_;
  StreamHandler* handler_ = nullptr;
  std::string kept_;
  std::optional<Status> ended_;  // set until the end has been reported to the owner
  bool reading_ = true;
  bool posted_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

 public:
  ~LayeredStream() override { *alive_ = false; }
};

}  // namespace neptune
