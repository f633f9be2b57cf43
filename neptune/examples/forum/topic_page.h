// A topic as a page of HTML.
//
// Source: none. Layer: examples, policy. Threads: pure function.
// Limits: the latest kShownPostCountMax posts are shown.

#pragma once

#include <string>

#include "neptune/examples/forum/forum.pb.h"

namespace neptune::examples {

inline constexpr int kShownPostCountMax = 50;

// What authors wrote is text, whatever characters it has.
std::string RenderTopic(const ForumTopic& topic);

}  // namespace neptune::examples
