// A topic's page contains all its text, and none of it as markup.

#include "neptune/examples/forum/topic_page.h"

#include <gtest/gtest.h>

namespace neptune::examples {
namespace {

ForumTopic Topic(int post_count) {
  ForumTopic topic;
  topic.set_title("capsules");
  for (int i = 1; i <= post_count; ++i) {
    topic.add_posts()->set_author("author" + std::to_string(i));
    topic.mutable_posts(i - 1)->set_text("post" + std::to_string(i));
  }
  return topic;
}

TEST(TopicPageTest, ShowsTitleAndPostsInTheirOrder) {
  const std::string page = RenderTopic(Topic(3));
  EXPECT_NE(page.find("<h1>capsules</h1>"), std::string::npos);
  EXPECT_LT(page.find("post1"), page.find("post2"));
  EXPECT_LT(page.find("author3"), page.find("post3"));
}

TEST(TopicPageTest, ShowsTheLatestPostsOfALongTopic) {
  const std::string page = RenderTopic(Topic(kShownPostCountMax + 2));
  EXPECT_EQ(page.find("post2<"), std::string::npos);
  EXPECT_NE(page.find("post3<"), std::string::npos);
  EXPECT_NE(page.find("2 earlier posts"), std::string::npos);
}

TEST(TopicPageTest, AuthorsTextIsEscaped) {
  ForumTopic topic = Topic(1);
  topic.set_title("a < b & \"c\"");
  topic.mutable_posts(0)->set_text("<script>");
  const std::string page = RenderTopic(topic);
  EXPECT_NE(page.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
}

}  // namespace
}  // namespace neptune::examples
