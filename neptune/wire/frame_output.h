// The sending side of one accepted connection: answers and other frames become bytes, many of them
// one write, and a peer that does not read them pauses the connection. Internal to
// server_connection.
//
// Threads: the loop of its stream only.
// Errors: an answer over the payload limit is sent as kResourceExhausted.
// Limits: FrameOutput::Limits. Over unsent_size_max the stream is not read, until the owner
//   unpauses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/wire/frame.h"
#include "neptune/world/loop.h"
#include "neptune/world/network.h"

namespace neptune {

class FrameOutput {
 public:
  struct Limits {
    size_t unsent_size_max;
    size_t payload_size_max;
  };

  FrameOutput(std::unique_ptr<Stream> stream, Loop& loop, const Limits& limits)
      : stream_(std::move(stream)), loop_(loop), limits_(limits) {}

  bool open() const { return stream_ != nullptr; }
  // REQUIRES: open().
  Stream& stream() { return *stream_; }
  void Close() { stream_.reset(); }

  // REQUIRES: open().
  void WriteAnswer(uint64_t call, const ResponseHeader& header, std::string_view payload);
  // Has no effect if not open. REQUIRES: the section and the payload are within the limits.
  void WriteFrame(FrameType type, uint64_t call, std::string_view section,
                  std::string_view payload);

  // What is written between these is sent in one write.
  void BeginGathering() { gathering_ = true; }
  void EndGathering() {
    gathering_ = false;
    if (open() && !gathered_.empty()) stream_->Write(std::exchange(gathered_, {}));
  }

  // True if the stream is not read, because the peer does not read its answers.
  bool paused() const { return paused_; }
  TimePoint paused_at() const { return paused_at_; }
  // The caller makes the stream readable again.
  void Unpause() { paused_ = false; }

 private:
  void Send(std::string bytes);

  std::unique_ptr<Stream> stream_;
  Loop& loop_;
  const Limits limits_;
  std::string gathered_;
  bool gathering_ = false;
  bool paused_ = false;
  TimePoint paused_at_;
};

}  // namespace neptune
