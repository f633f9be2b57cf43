// Payload of a call: a typed Protobuf message or raw bytes, converted at most once each way.
//
// Source: [Chu03] 3.3 (NeptuneData: structured and typed data in a platform-independent form).
// Threads: thread-compatible.
// Errors: kInvalidArgument the bytes are not a message of the wanted type.

#pragma once

#include <google/protobuf/message_lite.h>

#include <memory>
#include <string>
#include <utility>

#include "neptune/base/status.h"

namespace neptune {

class Data {
 public:
  Data() = default;
  explicit Data(std::string bytes) : bytes_(std::move(bytes)), has_bytes_(true) {}
  // Returns data that has no bytes, but the room of `buffer` for those that are copied to it.
  static Data WithRoomOf(std::string buffer) {
    Data data;
    data.bytes_ = std::move(buffer);
    data.bytes_.clear();
    return data;
  }

  template <typename Message>
  static Data Of(Message message) {
    Data data;
    data.message_ = std::make_shared<Message>(std::move(message));
    data.type_ = &kTypeTag<Message>;
    return data;
  }

  // Returns the message, which is parsed by the first call and cached. It lives as long as this
  // Data.
  template <typename Message>
  StatusOr<const Message*> As() const {
    if (message_ == nullptr || type_ != &kTypeTag<Message>) {
      auto parsed = std::make_shared<Message>();
      if (!parsed->ParseFromString(bytes())) {
        return InvalidArgument("payload of ", bytes().size(), " bytes is not a ",
                               parsed->GetTypeName());
      }
      message_ = std::move(parsed);
      type_ = &kTypeTag<Message>;
    }
    return static_cast<const Message*>(message_.get());
  }

  // Returns the bytes, which are serialised by the first call and cached.
  const std::string& bytes() const {
    if (!has_bytes_ && message_ != nullptr) message_->SerializeToString(&bytes_);
    has_bytes_ = true;
    return bytes_;
  }
  std::string ReleaseBytes() && {
    (void)bytes();
    return std::move(bytes_);
  }

 private:
  template <typename Message>
  static inline const char kTypeTag = 0;

  mutable std::string bytes_;
  mutable bool has_bytes_ = false;
  mutable std::shared_ptr<google::protobuf::MessageLite> message_;
  mutable const void* type_ = nullptr;
};

}  // namespace neptune
