#include "neptune/wire/message_stream.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/capsule/main_pool.h"

namespace neptune {

void MessageStream::Wake(Side side) {
  ThreadRef waiter;
  {
    LeafLock lock(&mutex_);
    waiter = std::exchange(side == Side::kReader ? reader_ : writer_, ThreadRef());
  }
  if (waiter) waiter->Wake();
}

Status MessageStream::OnMessage(std::string message) {
  {
    LeafLock lock(&mutex_);
    NEPTUNE_RETURN_IF_ERROR(state_.HandleMessage(std::move(message)));
  }
  Wake(Side::kReader);
  return OkStatus();
}

Status MessageStream::OnGrant(uint32_t size) {
  {
    LeafLock lock(&mutex_);
    NEPTUNE_RETURN_IF_ERROR(state_.HandleGrant(size));
  }
  Wake(Side::kWriter);
  return OkStatus();
}

Status MessageStream::OnEnd() {
  {
    LeafLock lock(&mutex_);
    NEPTUNE_RETURN_IF_ERROR(state_.HandleEnd());
  }
  Wake(Side::kReader);
  return OkStatus();
}

void MessageStream::Close(const Status& why, bool drop_unread) {
  {
    LeafLock lock(&mutex_);
    state_.Close(why, drop_unread);
  }
  Wake(Side::kReader);
  Wake(Side::kWriter);
}

// Parks the calling thread, which has registered itself as the waiter.
Status MessageStream::WaitAs(Side side, TimePoint deadline) {
  const char* const doing = side == Side::kReader ? "reading" : "writing";
  const OutsideMainPool outside;
  switch (this_thread::Park(deadline)) {
    case ParkResult::kWoken:
      return OkStatus();
    case ParkResult::kDeadline:
      return DeadlineExceeded(doing, " a stream");
    case ParkResult::kStopping:
      break;
  }
  return Cancelled(doing, " a stream: the node stops");
}

StatusOr<std::optional<std::string>> MessageStream::Read(TimePoint deadline) {
  while (true) {
    std::optional<MessageStreamState::Taken> taken;
    {
      LeafLock lock(&mutex_);
      taken = state_.Next();
      if (!taken && state_.reading_ended()) {
        const std::optional<Status>& closed = state_.closed_with();
        if (closed && !closed->ok()) return *closed;
        return std::nullopt;
      }
      reader_ = taken ? ThreadRef() : ThreadRef(UserThread::Current());
    }
    if (taken) {
      if (taken->grant > 0) outlet_->SendGrant(taken->grant);
      read_count_.fetch_add(1, std::memory_order_relaxed);
      return std::move(taken->message);
    }
    NEPTUNE_RETURN_IF_ERROR(WaitAs(Side::kReader, deadline));
  }
}

bool MessageStream::ReadWaits() {
  LeafLock lock(&mutex_);
  return !state_.has_message() && !state_.reading_ended();
}

bool MessageStream::WriteWaits() {
  LeafLock lock(&mutex_);
  return !state_.closed_with() && !state_.CanWrite();
}

Status MessageStream::Write(std::string message, TimePoint deadline) {
  CHECK(!writing_ended_) << "writing a stream after EndWriting";
  if (message.size() > kMessageSizeMax) {
    return InvalidArgument("message of ", message.size(), " bytes is over ", kMessageSizeMax);
  }
  while (true) {
    {
      LeafLock lock(&mutex_);
      if (const std::optional<Status>& closed = state_.closed_with()) {
        return closed->ok() ? FailedPrecondition("the stream has ended") : *closed;
      }
      if (state_.CanWrite()) {
        state_.Wrote(message.size());
        writer_ = ThreadRef();
        break;
      }
      writer_ = ThreadRef(UserThread::Current());
    }
    NEPTUNE_RETURN_IF_ERROR(WaitAs(Side::kWriter, deadline));
  }
  written_count_.fetch_add(1, std::memory_order_relaxed);
  outlet_->SendMessage(std::move(message));
  return OkStatus();
}

void MessageStream::EndWriting() {
  if (!std::exchange(writing_ended_, true)) outlet_->SendEnd();
}

Status DeliverToStream(const FrameView& frame, std::string payload, MessageStream& stream) {
  if (frame.type == FrameType::kMessage) {
    if (!frame.section.empty()) return DataLoss("a stream's message has a section");
    return stream.OnMessage(std::move(payload));
  }
  if (!payload.empty()) return DataLoss("a stream's control frame has a payload");
  if (frame.type == FrameType::kGrant) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint32_t size, DecodeGrant(frame.section));
    return stream.OnGrant(size);
  }
  return stream.OnEnd();
}

}  // namespace neptune
