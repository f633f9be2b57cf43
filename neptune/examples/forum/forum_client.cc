// Reads a topic of a running forum, or posts to it.

#include <gflags/gflags.h>

#include <cstdio>
#include <utility>

#include "neptune/examples/client/example_client.h"
#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/forum/forum_module.h"

DEFINE_string(spec, "neptune/examples/forum/cluster.textproto", "spec of the running cluster");
DEFINE_uint64(topic, 1, "number of the topic");
DEFINE_string(post, "", "text to post to the topic");
DEFINE_string(author, "guest", "author of the post");

namespace {

using neptune::AccessMode;
using neptune::ClientSession;
using neptune::Data;
using neptune::OkStatus;
using neptune::Status;

Status Ask(ClientSession& session, const char* method, AccessMode access, Data request,
           Data* response) {
  return neptune::Call(
      session,
      {neptune::ServiceName("forum"), neptune::PartitionId(0), neptune::MethodName(method), access},
      request, response);
}

Status View(ClientSession& session) {
  neptune::examples::ViewTopicRequest request;
  request.set_topic_id(FLAGS_topic);
  Data response;
  const neptune::TimePoint begin = neptune::this_thread::Now();
  NEPTUNE_RETURN_IF_ERROR(Ask(session, neptune::examples::kViewMethod, AccessMode::kRead,
                              Data::Of(std::move(request)), &response));
  const double took_ms = neptune::ToMillis(neptune::this_thread::Now() - begin);
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const page, response.As<neptune::examples::ForumPage>());
  std::printf("%s<!-- from the %s, in %.1f ms -->\n", page->html().c_str(),
              page->from_cache() ? "cache" : "database", took_ms);
  return OkStatus();
}

Status Post(ClientSession& session) {
  neptune::examples::AddPostRequest request;
  request.set_topic_id(FLAGS_topic);
  request.mutable_post()->set_author(FLAGS_author);
  request.mutable_post()->set_text(FLAGS_post);
  Data response;
  NEPTUNE_RETURN_IF_ERROR(Ask(session, neptune::examples::kPostMethod, AccessMode::kWrite,
                              Data::Of(std::move(request)), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const result,
                           response.As<neptune::examples::AddPostResult>());
  std::printf("topic %llu holds %u posts\n", static_cast<unsigned long long>(FLAGS_topic),
              result->post_count());
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  return neptune::examples::RunExampleClient(
      &argc, &argv,
      {.usage = "reads a topic of a running forum, or posts to it",
       .spec = &FLAGS_spec,
       .service = neptune::ServiceName("forum"),
       .register_operators = [](neptune::ModuleContext&) {},
       .ask = [](ClientSession& session,
                 uint32_t) { return FLAGS_post.empty() ? View(session) : Post(session); }});
}
