#include "neptune/service/server_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "neptune/wire/message_stream.h"

namespace neptune {

StatusOr<std::optional<Data>> ServerStream::Read() {
  NEPTUNE_ASSIGN_OR_RETURN(std::optional<std::string> bytes, messages_.Read(deadline_));
  if (!bytes) return std::nullopt;
  return Data(*std::move(bytes));
}

Status ServerStream::Write(const Data& message, TimePoint limit) {
  return messages_.Write(message.bytes(), std::min(deadline_, limit));
}

}  // namespace neptune
