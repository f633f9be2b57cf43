#include "neptune/examples/forum/forum_module.h"

#include <algorithm>
#include <utility>

#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/forum/forum_database_module.h"
#include "neptune/examples/forum/topic_page.h"

namespace neptune::examples {
namespace {

PageCacheUse Briefly(RequestContext& context, ClientSession& session, uint64_t work_seed) {
  return {session, std::min(context.deadline(), context.Now() + kCacheTimeLimit), work_seed};
}

Status AskDatabase(ClientSession& session, const char* method, AccessMode access,
                   const Data& request, Data* response) {
  return Call(session,
              {ServiceName(kForumDatabaseService), PartitionId(0), MethodName(method), access},
              request, response);
}

}  // namespace

void ForumModule::DeclareParameters(ParameterTable& table) {
  cache_->DeclareParameters(table);
  work_.DeclareParameter(table, "work_us");
}

Status ForumModule::Start(ModuleContext& context) {
  client_ = &context.client;
  work_.Start(context);
  NEPTUNE_RETURN_IF_ERROR(cache_->Start());
  context.registrar.Method(MethodName(kViewMethod), {.grain = Grain::kLong},
                           [this](RequestContext& request, const Data& in, Data* out) {
                             return View(request, in, out);
                           });
  context.registrar.Method(
      MethodName(kPostMethod),
      {.access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false},
      [this](RequestContext& request, const Data& in, Data* out) {
        return Post(request, in, out);
      });
  return OkStatus();
}

Status ForumModule::View(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ViewTopicRequest>());
  const uint64_t seed = asked->work_seed();
  work_.Use(seed);
  ClientSession session(*client_, context);
  const std::string name = TopicPageName(asked->topic_id());
  ForumPage page;
  auto cached = cache_->Find(name, Briefly(context, session, seed));
  if (cached.ok() && cached->has_value()) {
    page.set_html(**std::move(cached));
    page.set_from_cache(true);
  } else {
    Data read;
    NEPTUNE_RETURN_IF_ERROR(
        AskDatabase(session, kReadTopicMethod, AccessMode::kRead, request, &read));
    NEPTUNE_ASSIGN_OR_RETURN(const ForumTopic* const topic, read.As<ForumTopic>());
    page.set_html(RenderTopic(*topic));
    // Do not wait for a cache that has just failed.
    if (cached.ok()) (void)cache_->Store(name, page.html(), Briefly(context, session, seed));
  }
  *response = Data::Of(std::move(page));
  return OkStatus();
}

Status ForumModule::Post(RequestContext& context, const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<AddPostRequest>());
  NEPTUNE_RETURN_IF_ERROR(ValidatePost(asked->post()));
  work_.Use(asked->work_seed());
  ClientSession session(*client_, context);
  NEPTUNE_RETURN_IF_ERROR(
      AskDatabase(session, kAddPostMethod, AccessMode::kWrite, request, response));
  // If the cache misses this message, the page is stale for kPageLifetime at most.
  (void)cache_->Drop(TopicPageName(asked->topic_id()),
                     Briefly(context, session, asked->work_seed()));
  return OkStatus();
}

}  // namespace neptune::examples
