// The forum's document database: topics with their posts, in memory.
//
//   Read   ViewTopicRequest → ForumTopic
//   Add    AddPostRequest → AddPostResult; a write
//
// Source: [Chu05] VI.A (BBS: a database of ten thousand articles).
// Departs from source: in memory, instead of MySQL.
// Threads: see ServiceModule.
// Errors: kNotFound no such topic; kInvalidArgument a post exceeds a limit; kResourceExhausted
//   kPostCountMax posts.
// Limits: kTopicCountMax topics, kPostCountMax posts each, kPostSizeMax bytes a post.

#pragma once

#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kForumDatabaseService[] = "forum_database";
inline constexpr char kReadTopicMethod[] = "Read";
inline constexpr char kAddPostMethod[] = "Add";

inline constexpr uint64_t kTopicCountMax = 1'000'000;
inline constexpr int kPostCountMax = 10'000;
inline constexpr size_t kPostSizeMax = 10'000;
inline constexpr size_t kAuthorSizeMax = 100;

Status ValidatePost(const ForumPost& post);

class ForumDatabaseModule final : public ServiceModule {
 public:
  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "forum_database"; }

 private:
  Status Read(const Data& request, Data* response);
  Status Add(const Data& request, Data* response);

  uint64_t synthetic_topics_ = 0;  // fixed before Start
  ModelledWork read_work_;
  ModelledWork write_work_;
  LeafMutex mutex_;
  std::unordered_map<uint64_t, ForumTopic> topics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune::examples
