#include "neptune/wire/frame_output.h"

#include <glog/logging.h>

#include "neptune/wire/wire_memory.h"

namespace neptune {
namespace {

// A payload of at least this size is passed to the stream as it is, instead of being copied.
constexpr size_t kMovedSizeMin = 64 * 1024;

}  // namespace

size_t FrameOutput::HeldBy(const std::string& payload) {
  return payload.size() < kMovedSizeMin ? payload.size() : payload.capacity();
}

bool FrameOutput::Reserve(size_t payload_size) {
  if (payload_size < kLargePayloadSize) return true;
  const size_t unsent = unsent_size();
  if (unsent == 0) charge_.Settle(0);
  return charge_.Cover(unsent + payload_size, WireMemory::RankOf(unsent + payload_size));
}

void FrameOutput::WriteAnswer(uint64_t call, const ResponseHeader& header, std::string payload) {
  if (payload.size() > limits_.payload_size_max) {
    return WriteRefusal(call, header,
                        ResourceExhausted("the answer of ", payload.size(), " bytes is over ",
                                          limits_.payload_size_max));
  }
  std::string bytes;
  std::string& out = gathering_ ? gathered_ : bytes;
  if (payload.size() < kMovedSizeMin) {
    AppendResponse(call, header, payload, &out);
    return Send(std::move(bytes));
  }
  AppendResponseHead(call, header, payload, &out);
  if (gathering_) bytes.swap(gathered_);
  written_size_ += bytes.size();
  stream_->Write(std::move(bytes));
  Send(std::move(payload));
}

void FrameOutput::WriteRefusal(uint64_t call, ResponseHeader header, Status why) {
  std::string bytes;
  header.status = std::move(why);
  AppendResponse(call, header, "", gathering_ ? &gathered_ : &bytes);
  Send(std::move(bytes));
}

void FrameOutput::WriteFrame(FrameType type, uint64_t call, std::string_view section,
                             std::string_view payload) {
  if (!open()) return;
  std::string bytes;
  const Status status = AppendFrame(type, call, section, payload, gathering_ ? &gathered_ : &bytes);
  CHECK(status.ok()) << status;  // sections are short, and payloads were checked
  Send(std::move(bytes));
}

// Sends `bytes` (empty if they were gathered), then pauses reading if the peer does not read.
void FrameOutput::Send(std::string bytes) {
  written_size_ += bytes.size();
  if (!bytes.empty()) stream_->Write(std::move(bytes));
  const size_t unsent = unsent_size();
  if (paused_) return;
  if (unsent <= limits_.unsent_size_max && charge_.Cover(unsent, MemoryRank::kSmall)) return;
  paused_ = true;
  paused_at_ = loop_.Now();
  stream_->SetReading(false);
}

void FrameOutput::NoteProgress(TimePoint now) {
  const size_t unsent = stream_->unsent_size();
  if (unsent == 0) charge_.Settle(gathered_.size());
  const uint64_t sent = written_size_ - unsent;
  if (sent == sent_size_ && unsent > 0) return;
  sent_size_ = sent;
  progress_at_ = now;
}

}  // namespace neptune
