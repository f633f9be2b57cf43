// A stream whose two ends have proven that they know the cluster's key; see key_handshake.h.
// Internal to secure_network.
//
// Threads: only the loop of the stream below.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "neptune/security/key_handshake.h"
#include "neptune/security/layered_stream.h"

namespace neptune {

class KeyedStream final : public LayeredStream {
 public:
  // `mac` must outlive the handshake.
  KeyedStream(Loop& loop, std::unique_ptr<Stream> below, HandshakeRole role, ClusterMac& mac,
              std::string binding)
      : LayeredStream(loop, std::move(below)) {
    Nonce nonce;
    loop.FillUnpredictable(nonce.data(), nonce.size());
    handshake_.emplace(role, mac, nonce, std::move(binding));
  }

  // Nothing is done to the bytes of an open stream.
  void WriteWith(absl::FunctionRef<void(std::string*)> append) override {
    if (below() != nullptr) below()->WriteWith(append);
  }
  std::string TakeBuffer() override {
    return below() == nullptr ? std::string() : below()->TakeBuffer();
  }

 private:
  void Begin() override {
    if (std::string hello = handshake_->Begin(); !hello.empty()) WriteBelow(std::move(hello));
  }

  void HandleBelow(std::string_view bytes) override {
    if (!handshake_) return Deliver(bytes);
    if (std::string answer = handshake_->Take(bytes); !answer.empty()) {
      WriteBelow(std::move(answer));
    }
    if (!handshake_->failure().ok()) {
      const Status why = handshake_->failure();
      handshake_.reset();
      return Fail(why);
    }
    if (!handshake_->done()) return;
    const std::string rest(handshake_->rest());
    handshake_.reset();
    Secured(rest);
  }

  std::optional<KeyHandshake> handshake_;  // null once the handshake has ended
};

}  // namespace neptune
