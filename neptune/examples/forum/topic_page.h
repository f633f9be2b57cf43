// A topic as a page of HTML, and the page's name.
//
// Threads: pure functions.
// Limits: the latest kShownPostCountMax posts are shown.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/examples/forum/forum.pb.h"

namespace neptune::examples {

inline constexpr int kShownPostCountMax = 50;

// The key of a topic's page in caches.
std::string TopicPageName(uint64_t topic_id);

// Authors' text is escaped, whatever characters it has.
std::string RenderTopic(const ForumTopic& topic);

}  // namespace neptune::examples
