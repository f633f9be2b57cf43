#include "neptune/examples/forum/forum_database_module.h"

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/service/parameter_table.h"

namespace neptune::examples {
namespace {

constexpr uint64_t kMadeUpPostCountMax = 5;

ForumTopic MadeUpTopic(uint64_t id) {
  ForumTopic topic;
  topic.set_id(id);
  topic.set_title(StrCat("topic ", id));
  for (uint64_t i = 0; i <= id % kMadeUpPostCountMax; ++i) {
    ForumPost* const post = topic.add_posts();
    post->set_author(StrCat("author ", (id + i) % 100));
    post->set_text(StrCat("post ", i + 1, " of topic ", id));
  }
  return topic;
}

}  // namespace

Status ValidatePost(const ForumPost& post) {
  if (post.author().empty() || post.author().size() > kAuthorSizeMax) {
    return InvalidArgument("the author's name has ", post.author().size(), " bytes, expected 1 to ",
                           kAuthorSizeMax);
  }
  if (post.text().empty() || post.text().size() > kPostSizeMax) {
    return InvalidArgument("the post has ", post.text().size(), " bytes, expected 1 to ",
                           kPostSizeMax);
  }
  return OkStatus();
}

void ForumDatabaseModule::DeclareParameters(ParameterTable& table) {
  table.Whole("synthetic_topics", {0, kTopicCountMax}, &synthetic_topics_,
              "initial topics, numbered from 1, with a few posts each");
  read_work_.DeclareParameter(table, "read_work_us");
  write_work_.DeclareParameter(table, "write_work_us");
}

Status ForumDatabaseModule::Start(ModuleContext& context) {
  read_work_.Start(context);
  write_work_.Start(context);
  {
    LeafLock lock(&mutex_);
    for (uint64_t id = 1; id <= synthetic_topics_; ++id) topics_[id] = MadeUpTopic(id);
  }
  context.registrar.Method(
      MethodName(kReadTopicMethod), {.grain = Grain::kLong},
      [this](RequestContext&, const Data& in, Data* out) { return Read(in, out); });
  context.registrar.Method(
      MethodName(kAddPostMethod),
      {.access = AccessMode::kWrite, .grain = Grain::kLong, .stateless = false},
      [this](RequestContext&, const Data& in, Data* out) { return Add(in, out); });
  return OkStatus();
}

Status ForumDatabaseModule::Read(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<ViewTopicRequest>());
  read_work_.Use(asked->work_seed());
  LeafLock lock(&mutex_);
  const auto found = topics_.find(asked->topic_id());
  if (found == topics_.end()) return NotFound("no topic ", asked->topic_id());
  *response = Data::Of(found->second);
  return OkStatus();
}

Status ForumDatabaseModule::Add(const Data& request, Data* response) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto* const asked, request.As<AddPostRequest>());
  NEPTUNE_RETURN_IF_ERROR(ValidatePost(asked->post()));
  write_work_.Use(asked->work_seed());
  AddPostResult result;
  {
    LeafLock lock(&mutex_);
    const auto found = topics_.find(asked->topic_id());
    if (found == topics_.end()) return NotFound("no topic ", asked->topic_id());
    ForumTopic& topic = found->second;
    if (topic.posts_size() >= kPostCountMax) {
      return ResourceExhausted("topic ", topic.id(), " holds ", kPostCountMax, " posts");
    }
    *topic.add_posts() = asked->post();
    result.set_post_count(static_cast<uint32_t>(topic.posts_size()));
  }
  *response = Data::Of(std::move(result));
  return OkStatus();
}

}  // namespace neptune::examples
