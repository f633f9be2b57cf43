// Protobuf messages in a partition's data.
//
// Threads: pure functions.
// Errors: kDataLoss the stored bytes are not such a message; those of the store.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/base/status.h"
#include "neptune/replication/state/store_state.h"

namespace neptune {

template <typename Message>
StatusOr<Message> ParseStored(std::string_view bytes) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return DataLoss("stored bytes are not a ", message.GetTypeName());
  }
  return message;
}

// nullopt: the key does not exist.
template <typename Message>
StatusOr<std::optional<Message>> FindStored(const StoreView& store, std::string_view key) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, store.Get(key));
  if (!bytes) return std::optional<Message>();
  NEPTUNE_ASSIGN_OR_RETURN(Message message, ParseStored<Message>(*bytes));
  return std::optional<Message>(std::move(message));
}

}  // namespace neptune
