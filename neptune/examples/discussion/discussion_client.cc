// Command-line client of a running discussion: reads a group or one message of it, or adds a
// message.

#include <gflags/gflags.h>

#include <cstdio>
#include <string>
#include <utility>

#include "neptune/examples/client/ask_replicas.h"
#include "neptune/examples/client/example_client.h"
#include "neptune/examples/discussion/discussion.pb.h"
#include "neptune/examples/discussion/discussion_module.h"

DEFINE_string(spec, "neptune/examples/discussion/cluster.textproto", "spec of the running cluster");
DEFINE_uint64(group, 1, "number of the group");
DEFINE_uint64(message, 0, "message to show; 0: the headers of all messages");
DEFINE_string(add, "", "text of a message to add");
DEFINE_string(subject, "no subject", "subject of the message to add");
DEFINE_string(author, "guest", "author of the message to add");
DEFINE_uint64(reply_to, 0, "message to reply to; 0: start a thread");

namespace {

using neptune::AccessMode;
using neptune::Data;
using neptune::OkStatus;
using neptune::ReplicaReport;
using neptune::ReplicaSession;
using neptune::Status;
using neptune::StatusOr;
using neptune::examples::AddMsgRequest;
using neptune::examples::AddMsgResult;
using neptune::examples::AskReplicas;
using neptune::examples::DiscussionMessage;
using neptune::examples::MessageHeader;
using neptune::examples::MessageHeaders;
using neptune::examples::ReplicasAsked;
using neptune::examples::ViewHeadersRequest;
using neptune::examples::ViewMsgRequest;

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicasAsked& asked, const char* method, AccessMode access,
                     const Request& request) {
  ReplicaReport report;
  NEPTUNE_ASSIGN_OR_RETURN(Answer answer, AskReplicas<Answer>(asked, request.group_id(), method,
                                                              access, request, &report));
  std::printf("version %llu of partition %llu", static_cast<unsigned long long>(report.version),
              static_cast<unsigned long long>(request.group_id() % asked.partition_count));
  if (report.staleness)
    std::printf(", the newest %.0f ms ago", neptune::ToMillis(*report.staleness));
  std::printf("\n");
  return answer;
}

void Show(const MessageHeader& header) {
  std::printf("%*s%llu  %s, by %s\n", static_cast<int>(2 * header.depth()), "",
              static_cast<unsigned long long>(header.id()), header.subject().c_str(),
              header.author().c_str());
}

Status ShowHeaders(ReplicasAsked& asked) {
  ViewHeadersRequest request;
  request.set_group_id(FLAGS_group);
  bool has_more = true;
  while (has_more) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto headers,
                             Ask<MessageHeaders>(asked, neptune::examples::kViewHeadersMethod,
                                                 AccessMode::kRead, request));
    for (const MessageHeader& header : headers.headers()) Show(header);
    has_more = headers.has_more();
    if (has_more) request.set_after_id(headers.headers(headers.headers_size() - 1).id());
  }
  return OkStatus();
}

Status ShowMessage(ReplicasAsked& asked) {
  ViewMsgRequest request;
  request.set_group_id(FLAGS_group);
  request.set_message_id(FLAGS_message);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto message,
      Ask<DiscussionMessage>(asked, neptune::examples::kViewMsgMethod, AccessMode::kRead, request));
  Show(message.header());
  std::printf("\n%s\n", message.text().c_str());
  return OkStatus();
}

Status Add(ReplicasAsked& asked) {
  AddMsgRequest request;
  request.set_group_id(FLAGS_group);
  request.set_reply_to(FLAGS_reply_to);
  request.set_author(FLAGS_author);
  request.set_subject(FLAGS_subject);
  request.set_text(FLAGS_add);
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto result,
      Ask<AddMsgResult>(asked, neptune::examples::kAddMsgMethod, AccessMode::kWrite, request));
  std::printf("added as message %llu\n", static_cast<unsigned long long>(result.message_id()));
  return ShowHeaders(asked);
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "reads a group of a running discussion, one message of it, or adds one",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("discussion"),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask =
           [](neptune::ClientSession& session, uint32_t partition_count) {
             ReplicasAsked asked{ReplicaSession(session), neptune::ServiceName("discussion"),
                                 partition_count};
             if (!FLAGS_add.empty()) return Add(asked);
             return FLAGS_message == 0 ? ShowHeaders(asked) : ShowMessage(asked);
           }});
}
