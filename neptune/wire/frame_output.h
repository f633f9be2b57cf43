// The sending side of one accepted connection: answers and other frames become bytes, many of them
// one write, and a peer that does not read them pauses the connection. Internal to
// server_connection.
//
// Unsent bytes are charged to the connection's share of the memory budget. The charge stays until
// everything is sent, because the stream keeps its buffers that long.
//
// Threads: the loop of its stream only.
// Errors: an answer over the payload limit, or for which there is no memory, is sent as
//   kResourceExhausted.
// Limits: FrameOutput::Limits. Over unsent_size_max, or while small answers find no memory, the
//   stream is not read, until the owner unpauses.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/base/memory_budget.h"
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

  // `memory`: the connection's share; null: bytes are not charged.
  FrameOutput(std::unique_ptr<Stream> stream, Loop& loop, const Limits& limits,
              std::shared_ptr<MemoryShare> memory = nullptr)
      : stream_(std::move(stream)),
        loop_(loop),
        limits_(limits),
        charge_(std::move(memory), MemoryUse::kAnswers),
        progress_at_(loop.Now()) {}

  bool open() const { return stream_ != nullptr; }
  // REQUIRES: open().
  Stream& stream() { return *stream_; }
  void Close() {
    stream_.reset();
    charge_.Settle(0);
  }
  // Ends the connection after what was written.
  void CloseWhenSent() {
    stream_->Close();
    Close();
  }

  // What an answer holds until it is sent: a large one is sent from its own buffer, which may be
  // larger than its bytes.
  static size_t HeldBy(const std::string& payload);
  // Charges a large answer; false: there is no memory for it now. REQUIRES: open().
  bool Reserve(size_t payload_size);
  // Leaves the payload as it is if it was copied. REQUIRES: open(), and Reserve returned true for
  // the payload.
  void WriteAnswer(uint64_t call, const ResponseHeader& header, std::string&& payload);
  // Answers with an error; uses what is reserved for errors. REQUIRES: open().
  void WriteRefusal(uint64_t call, ResponseHeader header, Status why);
  // Has no effect if not open. REQUIRES: the section and the payload are within the limits.
  void WriteFrame(FrameType type, uint64_t call, std::string_view section,
                  std::string_view payload);

  // What is written between these is sent in one write. REQUIRES: open().
  void BeginGathering() {
    gathering_ = true;
    SetGatheredMax();
  }
  void EndGathering() {
    gathering_ = false;
    if (!open() || gathered_.empty()) return;
    written_size_ += gathered_.size();
    stream_->Write(std::exchange(gathered_, {}));
  }

  // True if the stream is not read, because the peer does not read its answers.
  bool paused() const { return paused_; }
  TimePoint paused_at() const { return paused_at_; }
  // The caller makes the stream readable again.
  void Unpause() { paused_ = false; }
  // Everything was sent.
  void NoteDrained() { charge_.Settle(0); }

  // True if the stream has sent everything.
  bool is_drained() const { return stream_ == nullptr || stream_->unsent_size() == 0; }
  // Bytes charged for unsent answers.
  size_t charged_size() const { return charge_.size(); }
  // Notes how much the peer has read; call it from time to time. REQUIRES: open().
  void NoteProgress(TimePoint now);
  // When the peer was last seen to have read something, or nothing was unsent.
  TimePoint progress_at() const { return progress_at_; }

 private:
  size_t unsent_size() const { return stream_->unsent_size() + gathered_.size(); }
  // Sends what `append` appends to a buffer.
  template <typename Append>
  void SendWith(Append append);
  void SetGatheredMax();
  // Pauses reading if the peer does not read.
  void CheckUnsent();

  std::unique_ptr<Stream> stream_;
  Loop& loop_;
  const Limits limits_;
  std::string gathered_;
  size_t gathered_size_max_ = 0;  // up to which no limit and no charge is reached
  bool gathering_ = false;
  bool paused_ = false;
  TimePoint paused_at_;
  SteppedCharge charge_;
  uint64_t written_size_ = 0;
  uint64_t sent_size_ = 0;  // as NoteProgress last saw it
  TimePoint progress_at_;
};

}  // namespace neptune
