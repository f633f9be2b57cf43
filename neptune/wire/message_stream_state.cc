#include "neptune/wire/message_stream_state.h"

#include <utility>

namespace neptune {
namespace {

// Window that a message consumes: the size of its frame.
uint32_t CostOf(size_t message_size) {
  return static_cast<uint32_t>(kFramePrefixSize + message_size);
}

}  // namespace

Status MessageStreamState::HandleMessage(std::string message) {
  if (closed_) return OkStatus();  // it was in flight when the stream ended
  if (peer_ended_) return DataLoss("a stream's message came after the end of its messages");
  if (message.size() > kMessageSizeMax) {
    return DataLoss("a stream's message of ", message.size(), " bytes is over ", kMessageSizeMax);
  }
  if (receive_window_ <= 0) return DataLoss("a stream's message came while its window was closed");
  receive_window_ -= CostOf(message.size());
  unread_size_ += message.size();
  unread_.push_back(std::move(message));
  return OkStatus();
}

Status MessageStreamState::HandleGrant(uint32_t size) {
  if (closed_) return OkStatus();
  if (size == 0 || send_window_ + size > static_cast<int64_t>(kMessageWindowSize)) {
    return DataLoss("a grant of ", size, " bytes makes a stream's window ", send_window_ + size);
  }
  send_window_ += size;
  return OkStatus();
}

Status MessageStreamState::HandleEnd() {
  if (closed_) return OkStatus();
  if (std::exchange(peer_ended_, true)) return DataLoss("a stream's messages ended twice");
  return OkStatus();
}

void MessageStreamState::Close(const Status& why, bool drop_unread) {
  if (closed_) return;
  closed_ = why;
  if (!drop_unread) return;
  unread_.clear();
  unread_size_ = 0;
}

std::optional<MessageStreamState::Taken> MessageStreamState::Next() {
  if (unread_.empty()) return std::nullopt;
  Taken taken{std::move(unread_.front())};
  unread_.pop_front();
  unread_size_ -= taken.message.size();
  ungranted_size_ += CostOf(taken.message.size());
  // No grant is needed if the peer or the stream has ended.
  if (ungranted_size_ < kMessageWindowSize / 2 || peer_ended_ || closed_) return taken;
  taken.grant = std::exchange(ungranted_size_, 0);
  receive_window_ += taken.grant;
  return taken;
}

void MessageStreamState::Wrote(size_t size) { send_window_ -= CostOf(size); }

}  // namespace neptune
