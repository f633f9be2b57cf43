#include "neptune/examples/discussion/discussion_store.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/strings.h"
#include "neptune/replication/state/stored_message.h"

namespace neptune::examples {
namespace {

constexpr size_t kNumberSize = 4;
constexpr size_t kGroupSize = 8;

void AppendBigEndian(std::string* to, uint64_t number, size_t size) {
  for (size_t i = size; i-- > 0;) to->push_back(static_cast<char>(number >> (8 * i)));
}

std::string GroupKey(char kind, uint64_t group) {
  std::string key(1, kind);
  AppendBigEndian(&key, group, kGroupSize);
  return key;
}

std::string HeaderKey(uint64_t group, std::string_view path) {
  return GroupKey('h', group).append(path);
}

std::string MessageKey(uint64_t group, uint64_t message) {
  std::string key = GroupKey('m', group);
  AppendBigEndian(&key, message, kNumberSize);
  return key;
}

// Numbers larger than any message's are rejected before they would be cut to four bytes.
StatusOr<std::optional<StoredMessage>> FindMessage(const StoreView& store, uint64_t group,
                                                   uint64_t message) {
  if (message == 0 || message > kMessageCountMax) return std::optional<StoredMessage>();
  return FindStored<StoredMessage>(store, MessageKey(group, message));
}

Status CheckSize(const char* what, size_t size, size_t size_max) {
  if (size >= 1 && size <= size_max) return OkStatus();
  return InvalidArgument(what, " has ", size, " bytes, expected 1 to ", size_max);
}

Status CheckMessage(const AddMsgRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckSize("the author's name", request.author().size(), kAuthorSizeMax));
  NEPTUNE_RETURN_IF_ERROR(CheckSize("the subject", request.subject().size(), kSubjectSizeMax));
  return CheckSize("the text", request.text().size(), kMessageSizeMax);
}

// Returns the path of the message replied to; empty if the request starts a thread.
StatusOr<std::string> PathBefore(const StoreView& store, const AddMsgRequest& request) {
  if (request.reply_to() == 0) return std::string();
  NEPTUNE_ASSIGN_OR_RETURN(const auto parent,
                           FindMessage(store, request.group_id(), request.reply_to()));
  if (!parent) {
    return FailedPrecondition("group ", request.group_id(), " has no message ", request.reply_to(),
                              " to reply to");
  }
  if (parent->path().size() > kReplyDepthMax * kNumberSize) {
    return ResourceExhausted("message ", request.reply_to(), " of group ", request.group_id(),
                             " already has the maximum reply depth ", kReplyDepthMax);
  }
  return parent->path();
}

MessageHeader HeaderOf(const AddMsgRequest& request, uint64_t id, size_t depth, WallTime posted) {
  MessageHeader header;
  header.set_id(id);
  header.set_reply_to(request.reply_to());
  header.set_depth(static_cast<uint32_t>(depth));
  header.set_author(request.author());
  header.set_subject(request.subject());
  header.set_posted_ms(posted.ns_since_1970 / 1'000'000);
  return header;
}

// Returns the key of the first requested header.
StatusOr<std::string> FirstKey(const StoreView& store, const ViewHeadersRequest& request) {
  if (request.after_id() == 0) return HeaderKey(request.group_id(), "");
  NEPTUNE_ASSIGN_OR_RETURN(const auto after,
                           FindMessage(store, request.group_id(), request.after_id()));
  if (!after) {
    return NotFound("group ", request.group_id(), " has no message ", request.after_id());
  }
  return HeaderKey(request.group_id(), after->path()) + '\0';
}

}  // namespace

StatusOr<MessageHeaders> ReadHeaders(const StoreView& store, const ViewHeadersRequest& request) {
  const uint64_t group = request.group_id();
  MessageHeaders answer;
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept, FindStored<StoredGroup>(store, GroupKey('g', group)));
  if (kept) answer.set_message_count(kept->message_count());
  NEPTUNE_ASSIGN_OR_RETURN(const std::string first, FirstKey(store, request));
  const uint32_t wanted = request.count_max() == 0 ? kHeaderCountDefault : request.count_max();
  const int count_max = static_cast<int>(std::min(wanted, kHeaderCountMax));
  std::string end = HeaderKey(group, "");
  end.append(kNumberSize, '\xff');
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(
      store.Scan({.first = first, .end = end}, [&](std::string_view, std::string_view value) {
        answer.set_has_more(answer.headers_size() == count_max);
        if (answer.has_more()) return false;
        StatusOr<MessageHeader> header = ParseStored<MessageHeader>(value);
        damage = header.status();
        if (header.ok()) *answer.add_headers() = *std::move(header);
        return damage.ok();
      }));
  if (!damage.ok()) return damage;
  return answer;
}

StatusOr<DiscussionMessage> ReadMessage(const StoreView& store, const ViewMsgRequest& request) {
  NEPTUNE_ASSIGN_OR_RETURN(auto kept, FindMessage(store, request.group_id(), request.message_id()));
  if (!kept)
    return NotFound("group ", request.group_id(), " has no message ", request.message_id());
  NEPTUNE_ASSIGN_OR_RETURN(
      auto header, FindStored<MessageHeader>(store, HeaderKey(request.group_id(), kept->path())));
  if (!header) {
    return DataLoss("message ", request.message_id(), " of group ", request.group_id(),
                    " has no header");
  }
  DiscussionMessage message;
  *message.mutable_header() = *std::move(header);
  message.set_text(std::move(*kept->mutable_text()));
  return message;
}

StatusOr<AddMsgResult> AddMessage(const WriteContext& write, const AddMsgRequest& request) {
  NEPTUNE_RETURN_IF_ERROR(CheckMessage(request));
  const uint64_t group = request.group_id();
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept,
                           FindStored<StoredGroup>(write.store, GroupKey('g', group)));
  StoredGroup changed = kept.value_or(StoredGroup());
  if (changed.message_count() >= kMessageCountMax) {
    return ResourceExhausted("group ", group, " holds ", kMessageCountMax, " messages");
  }
  NEPTUNE_ASSIGN_OR_RETURN(std::string path, PathBefore(write.store, request));
  const uint64_t id = changed.message_count() + 1;
  const size_t depth = path.size() / kNumberSize;
  AppendBigEndian(&path, id, kNumberSize);
  changed.set_message_count(id);
  StoredMessage message;
  message.set_path(path);
  message.set_text(request.text());
  write.changes.Put(GroupKey('g', group), changed.SerializeAsString());
  write.changes.Put(HeaderKey(group, path),
                    HeaderOf(request, id, depth, write.accepted_at).SerializeAsString());
  write.changes.Put(MessageKey(group, id), message.SerializeAsString());
  AddMsgResult result;
  result.set_message_id(id);
  return result;
}

}  // namespace neptune::examples
