// A stream over another one that must secure itself before anything passes.
//
//   owner ─Start, Write─► LayeredStream ─► Stream below
//                             │ Begin, HandleBelow: the variant (KeyedStream, TlsStream)
//
// Threads: the loop of the stream below only.
// Errors: Secure's: kUnavailable the peer ended or failed the proof.
// Limits: what was read and not handed over yet: one read of the stream below.

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
  // OK, or why the stream cannot be used; the callee may destroy the stream.
  using Done = absl::AnyInvocable<void(const Status&)>;

  LayeredStream(Loop& loop, std::unique_ptr<Stream> below)
      : loop_(loop), below_(std::move(below)), peer_(below_->peer()) {}

  // Begins; `done` is called once, never inside this call. Whoever destroys the stream before hears nothing.
  void Secure(Done done);

  // REQUIRES: for these Secure succeeded.
  void Start(StreamHandler* handler) override;
  void Write(std::string bytes) override { WriteBelow(std::move(bytes)); }
  size_t unsent_size() const override { return below_ == nullptr ? 0 : below_->unsent_size(); }
  void SetReading(bool on) override;
  void Close() override;
  Endpoint peer() const override { return peer_; }

  // Of a secured stream: bytes that name it and nothing else, for proofs about it; empty if there are none.
  virtual std::string Binding() const { return ""; }

 protected:
  // Sends what the variant sends first.
  virtual void Begin() = 0;
  // Takes bytes from below. While securing it ends with Secured or Fail or neither; later with Deliver. The last thing
  // it does, since the owner may destroy the stream.
  virtual void HandleBelow(std::string_view bytes) = 0;
  // The peer's end while open: what to tell the owner.
  virtual Status EndOf(const Status& reason) const { return reason; }

  bool securing() const { return done_ != nullptr; }
  Loop& loop() { return loop_; }
  Stream* below() { return below_.get(); }
  // False once the stream is gone, for what is posted.
  const std::shared_ptr<bool>& alive() const { return alive_; }
  void WriteBelow(std::string bytes) {
    if (below_ != nullptr) below_->Write(std::move(bytes));
  }
  // The stream may be used; `rest` came behind what secured it.
  void Secured(std::string_view rest);
  void Fail(const Status& why);
  // Hands bytes to the owner, or keeps them until it reads.
  void Deliver(std::string_view bytes);
  // Hands over what is left, then tells the owner of the end of the open stream.
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
  std::optional<Status> ended_;  // and the owner was not told yet
  bool reading_ = true;
  bool posted_ = false;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

 public:
  ~LayeredStream() override { *alive_ = false; }
};

}  // namespace neptune
