// Scripts of faults as text.

#include "tools/workload/script.h"

#include <gtest/gtest.h>

namespace search::workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Kind = ScriptEvent::Kind;

TEST(ScriptTest, EventsAreSortedByTime) {
  const auto script = ParseScript("20s resume s1; 1500ms pause s1;\n 30s slow s2 2.5 ;");
  ASSERT_TRUE(script.ok()) << script.status();
  EXPECT_EQ(*script, (std::vector<ScriptEvent>{{milliseconds(1500), Kind::kPause, "s1", 0},
                                               {seconds(20), Kind::kResume, "s1", 0},
                                               {seconds(30), Kind::kSlow, "s2", 2.5}}));
}

TEST(ScriptTest, EmptyScriptHasNoEvents) { EXPECT_TRUE(ParseScript(" ; ")->empty()); }

TEST(ScriptTest, WrongEventsAreRefused) {
  for (const char* text : {"10s", "10 pause s1", "10s stop s1", "10s pause s1 3", "10s slow s1",
                           "10s slow s1 0", "10s slow s1 x", "-1s pause s1", "1e99s pause s1"}) {
    EXPECT_EQ(ParseScript(text).status().code(), neptune::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace search::workload
