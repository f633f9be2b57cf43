#include "neptune/wire/frame_output.h"

#include <glog/logging.h>

namespace neptune {

void FrameOutput::WriteAnswer(uint64_t call, const ResponseHeader& header,
                              std::string_view payload) {
  std::string bytes;
  std::string& out = gathering_ ? gathered_ : bytes;
  if (payload.size() <= limits_.payload_size_max) {
    AppendResponse(call, header, payload, &out);
  } else {
    ResponseHeader refusal = header;
    refusal.status = ResourceExhausted("the answer of ", payload.size(), " bytes is over ",
                                       limits_.payload_size_max);
    AppendResponse(call, refusal, "", &out);
  }
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
  if (!bytes.empty()) stream_->Write(std::move(bytes));
  const size_t unsent_size = stream_->unsent_size() + gathered_.size();
  if (paused_ || unsent_size <= limits_.unsent_size_max) return;
  paused_ = true;
  paused_at_ = loop_.Now();
  stream_->SetReading(false);
}

}  // namespace neptune
