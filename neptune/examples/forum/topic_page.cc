#include "neptune/examples/forum/topic_page.h"

#include <algorithm>

#include "neptune/base/strings.h"

namespace neptune::examples {
namespace {

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string TopicPageName(uint64_t topic_id) { return StrCat("topic/", topic_id); }

std::string RenderTopic(const ForumTopic& topic) {
  const std::string title = Escaped(topic.title());
  std::string page = StrCat("<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>", title,
                            "</title>\n<h1>", title, "</h1>\n");
  const int first = std::max(0, topic.posts_size() - kShownPostCountMax);
  if (first > 0) StrAppend(&page, "<p>", first, " earlier posts</p>\n");
  for (int i = first; i < topic.posts_size(); ++i) {
    StrAppend(&page, "<article><h2>", Escaped(topic.posts(i).author()), "</h2><p>",
              Escaped(topic.posts(i).text()), "</p></article>\n");
  }
  return page;
}

}  // namespace neptune::examples
