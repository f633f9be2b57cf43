#include "tools/lab/replication/posts_module.h"

#include <algorithm>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/checksum.h"
#include "neptune/examples/discussion/discussion_module.h"
#include "neptune/examples/discussion/discussion_store.h"
#include "neptune/replication/state/stored_message.h"

namespace search::lab {
namespace {

using neptune::Data;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StoreView;
using neptune::WriteContext;
using neptune::examples::AddMsgRequest;
using neptune::examples::AddMsgResult;
using neptune::examples::DiscussionMessage;
using neptune::examples::MessageHeader;
using neptune::examples::MessageHeaders;
using neptune::examples::StoredGroup;
using neptune::examples::StoredMessage;
using neptune::examples::ViewHeadersRequest;
using neptune::examples::ViewMsgRequest;

std::string GroupKey(char kind, uint64_t group) {
  std::string key(1, kind);
  neptune::ByteWriter(&key).Number(group);
  return key;
}

std::string MessageKey(char kind, uint64_t group, uint64_t message) {
  std::string key = GroupKey(kind, group);
  neptune::ByteWriter(&key).Number(message);
  return key;
}

// Never 0, which means no message.
uint64_t NumberOf(const neptune::RequestId& id) {
  std::string bytes;
  neptune::ByteWriter out(&bytes);
  out.Number(id.client);
  out.Number(id.number);
  return neptune::Checksum64(bytes) | 1;
}

StatusOr<MessageHeaders> ReadHeaders(const StoreView& store, const ViewHeadersRequest& request) {
  const uint64_t group = request.group_id();
  MessageHeaders answer;
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept,
                           neptune::FindStored<StoredGroup>(store, GroupKey('g', group)));
  if (kept) answer.set_message_count(kept->message_count());
  const uint32_t wanted =
      request.count_max() == 0 ? neptune::examples::kHeaderCountDefault : request.count_max();
  const int count_max = static_cast<int>(std::min(wanted, neptune::examples::kHeaderCountMax));
  Status damage;
  NEPTUNE_RETURN_IF_ERROR(store.Scan(
      {.first = MessageKey('h', group, request.after_id() + 1), .end = GroupKey('h', group + 1)},
      [&](std::string_view, std::string_view value) {
        answer.set_has_more(answer.headers_size() == count_max);
        if (answer.has_more()) return false;
        StatusOr<MessageHeader> header = neptune::ParseStored<MessageHeader>(value);
        damage = header.status();
        if (header.ok()) *answer.add_headers() = *std::move(header);
        return damage.ok();
      }));
  if (!damage.ok()) return damage;
  return answer;
}

StatusOr<DiscussionMessage> ReadMessage(const StoreView& store, const ViewMsgRequest& request) {
  const uint64_t group = request.group_id();
  const uint64_t number = request.message_id();
  NEPTUNE_ASSIGN_OR_RETURN(
      auto header, neptune::FindStored<MessageHeader>(store, MessageKey('h', group, number)));
  NEPTUNE_ASSIGN_OR_RETURN(
      auto kept, neptune::FindStored<StoredMessage>(store, MessageKey('m', group, number)));
  if (!header || !kept) return neptune::NotFound("group ", group, " has no message ", number);
  DiscussionMessage message;
  *message.mutable_header() = *std::move(header);
  message.set_text(std::move(*kept->mutable_text()));
  return message;
}

StatusOr<AddMsgResult> AddPost(const WriteContext& write, const AddMsgRequest& request) {
  if (!write.id.given()) {
    return InvalidArgument("a write without a name does not commute in this service");
  }
  const uint64_t group = request.group_id();
  const uint64_t number = NumberOf(write.id);
  NEPTUNE_ASSIGN_OR_RETURN(const auto kept,
                           neptune::FindStored<StoredGroup>(write.store, GroupKey('g', group)));
  StoredGroup changed = kept.value_or(StoredGroup());
  changed.set_message_count(changed.message_count() + 1);
  MessageHeader header;
  header.set_id(number);
  header.set_reply_to(request.reply_to());
  header.set_author(request.author());
  header.set_subject(request.subject());
  StoredMessage message;
  message.set_text(request.text());
  write.changes.Put(GroupKey('g', group), changed.SerializeAsString());
  write.changes.Put(MessageKey('h', group, number), header.SerializeAsString());
  write.changes.Put(MessageKey('m', group, number), message.SerializeAsString());
  AddMsgResult result;
  result.set_message_id(number);
  return result;
}

}  // namespace

void PostsModule::DeclareParameters(neptune::ParameterTable& table) {
  read_work_.DeclareParameter(table, "read_work_us");
  write_work_.DeclareParameter(table, "write_work_us");
}

Status PostsModule::Start(neptune::ModuleContext& context) {
  read_work_.Start(context);
  write_work_.Start(context);
  service_ = std::make_unique<neptune::ReplicatedService>(context);
  Read(neptune::examples::kViewHeadersMethod, ReadHeaders);
  Read(neptune::examples::kViewMsgMethod, ReadMessage);
  Add();
  return service_->Open();
}

template <typename Request, typename Answer>
void PostsModule::Read(const char* method,
                       StatusOr<Answer> (*read)(const StoreView&, const Request&)) {
  service_->Read(neptune::MethodName(method), {.grain = neptune::Grain::kLong},
                 [this, read](const StoreView& store, neptune::RequestContext&, const Data& request,
                              Data* response) {
                   NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<Request>());
                   read_work_.Use(asked->work_seed());
                   NEPTUNE_ASSIGN_OR_RETURN(Answer answer, read(store, *asked));
                   *response = Data::Of(std::move(answer));
                   return neptune::OkStatus();
                 });
}

void PostsModule::Add() {
  service_->Write(neptune::MethodName(neptune::examples::kAddMsgMethod),
                  [](const WriteContext& write, std::string_view bytes, std::string* response) {
                    AddMsgRequest request;
                    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
                      return InvalidArgument(bytes.size(), " bytes are not a message to add");
                    }
                    NEPTUNE_ASSIGN_OR_RETURN(const AddMsgResult result, AddPost(write, request));
                    *response = result.SerializeAsString();
                    return neptune::OkStatus();
                  });
  service_->BeforeWrite([this](const neptune::LogEntry& entry) {
    AddMsgRequest request;
    if (request.ParseFromString(entry.payload)) write_work_.Use(request.work_seed());
  });
}

}  // namespace search::lab
