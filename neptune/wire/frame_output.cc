#include "neptune/wire/frame_output.h"

#include <glog/logging.h>

#include <algorithm>

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

template <typename Append>
void FrameOutput::SendWith(Append append) {
  if (gathering_) {
    if (gathered_.empty()) gathered_ = stream_->TakeBuffer();
    append(&gathered_);
    if (gathered_.size() <= gathered_size_max_) return;
  } else {
    stream_->WriteWith([&](std::string* out) {
      const size_t before = out->size();
      append(out);
      written_size_ += out->size() - before;
    });
  }
  CheckUnsent();
}

void FrameOutput::WriteAnswer(uint64_t call, const ResponseHeader& header, std::string&& payload) {
  if (payload.size() > limits_.payload_size_max) {
    return WriteRefusal(call, header,
                        ResourceExhausted("the answer of ", payload.size(), " bytes is over ",
                                          limits_.payload_size_max));
  }
  if (payload.size() < kMovedSizeMin) {
    return SendWith([&](std::string* out) { AppendResponse(call, header, payload, out); });
  }
  std::string bytes = std::exchange(gathered_, {});
  AppendResponseHead(call, header, payload, &bytes);
  written_size_ += bytes.size() + payload.size();
  stream_->Write(std::move(bytes));
  stream_->Write(std::move(payload));
  CheckUnsent();
}

void FrameOutput::WriteRefusal(uint64_t call, ResponseHeader header, Status why) {
  header.status = std::move(why);
  SendWith([&](std::string* out) { AppendResponse(call, header, "", out); });
}

void FrameOutput::WriteFrame(FrameType type, uint64_t call, std::string_view section,
                             std::string_view payload) {
  if (!open()) return;
  SendWith([&](std::string* out) {
    const Status status = AppendFrame(type, call, section, payload, out);
    CHECK(status.ok()) << status;  // sections are short, and payloads were checked
  });
}

void FrameOutput::CheckUnsent() {
  if (paused_) return;
  const size_t unsent = unsent_size();
  if (unsent <= limits_.unsent_size_max && charge_.Cover(unsent, MemoryRank::kSmall)) {
    return SetGatheredMax();
  }
  paused_ = true;
  paused_at_ = loop_.Now();
  stream_->SetReading(false);
}

// While only small answers are gathered, nothing else changes what is unsent or charged.
void FrameOutput::SetGatheredMax() {
  const size_t unsent_size_max = std::min(limits_.unsent_size_max, charge_.covered_size());
  const size_t unsent_size = stream_->unsent_size();
  gathered_size_max_ = unsent_size_max - std::min(unsent_size, unsent_size_max);
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
