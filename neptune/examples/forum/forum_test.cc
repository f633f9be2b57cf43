// The forum on its own cluster spec, in both worlds: pages come from the cache, show new posts, and
// are also served without the cache.

#include <gtest/gtest.h>

#include <utility>

#include "neptune/examples/forum/forum.pb.h"
#include "neptune/examples/forum/forum_database_module.h"
#include "neptune/examples/forum/forum_module.h"
#include "neptune/examples/forum/page_cache_module.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ExampleClusterOptions Cluster() {
  ExampleClusterOptions options;
  options.spec_file = "neptune/examples/forum/cluster.textproto";
  options.modules = [](const std::string& name) -> std::unique_ptr<ServiceModule> {
    if (name == "forum") return std::make_unique<ForumModule>();
    if (name == "page_cache_server") return std::make_unique<PageCacheModule>();
    return std::make_unique<ForumDatabaseModule>();
  };
  return options;
}

template <typename Response, typename Request>
StatusOr<Response> Ask(ClientSession& session, const char* method, AccessMode access,
                       const Request& request) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(Call(session,
                               {ServiceName("forum"), PartitionId(0), MethodName(method), access},
                               Data::Of(request), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const Response* const got, response.As<Response>());
  return *got;
}

StatusOr<ForumPage> View(ClientSession& session, uint64_t topic) {
  ViewTopicRequest request;
  request.set_topic_id(topic);
  return Ask<ForumPage>(session, kViewMethod, AccessMode::kRead, request);
}

StatusOr<AddPostResult> Post(ClientSession& session, uint64_t topic, const std::string& text) {
  AddPostRequest request;
  request.set_topic_id(topic);
  request.mutable_post()->set_author("eve");
  request.mutable_post()->set_text(text);
  return Ask<AddPostResult>(session, kPostMethod, AccessMode::kWrite, request);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// For topics of both cache partitions: reads, reads again, posts, reads again.
void Discuss(ClientSession& session) {
  for (uint64_t topic = 1; topic <= 8; ++topic) {
    const auto first = View(session, topic);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_FALSE(first->from_cache());
    EXPECT_TRUE(Contains(first->html(), "post 1 of topic " + std::to_string(topic)));
    const auto again = View(session, topic);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(again->from_cache());
    EXPECT_EQ(again->html(), first->html());
    const auto posted = Post(session, topic, "what eve says");
    ASSERT_TRUE(posted.ok()) << posted.status();
    EXPECT_EQ(posted->post_count(), topic % 5 + 2);
    const auto changed = View(session, topic);
    ASSERT_TRUE(changed.ok()) << changed.status();
    EXPECT_FALSE(changed->from_cache());
    EXPECT_TRUE(Contains(changed->html(), "what eve says"));
  }
}

TEST(ForumTest, DiscussesInTheSimulatedWorld) {
  SimulatedExample cluster(Cluster());
  cluster.RunOnClient(Discuss);
}

TEST(ForumTest, DiscussesInTheRealWorld) {
  RealExample cluster(Cluster());
  cluster.RunOnClient(Discuss);
}

TEST(ForumTest, AHungCacheCostsItsTimeLimitAndNoPage) {
  SimulatedExample cluster(Cluster());
  for (const char* const cache : {"forum-cache-1", "forum-cache-2"}) {
    cluster.simulator().Pause(cache);
  }
  cluster.RunOnClient([](ClientSession& session) {
    const TimePoint begin = this_thread::Now();
    const auto page = View(session, 1);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_FALSE(page->from_cache());
    EXPECT_NEAR(ToMillis(this_thread::Now() - begin), ToMillis(kCacheTimeLimit), 5);
  });
}

TEST(ForumTest, RefusesInvalidPosts) {
  SimulatedExample cluster(Cluster());
  cluster.RunOnClient([](ClientSession& session) {
    EXPECT_EQ(View(session, 10'001).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Post(session, 10'001, "hello").status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Post(session, 1, "").status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Post(session, 1, std::string(kPostSizeMax + 1, 'x')).status().code(),
              StatusCode::kInvalidArgument);
  });
}

}  // namespace
}  // namespace neptune::examples
