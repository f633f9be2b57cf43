#include "tools/mtrr/spec_edit.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

const ThreadSettings kSettings{.concurrency = 13, .classes = {{"gold", 8}, {"silver", 4}}};

constexpr char kSpec[] = R"(# A spec.
name: "dev"
services {
  name: "tier1"  # asked first
  parameters { key: "path" value: "a } brace" }
}
services {
  name: "index"
  concurrency: 8  # as measured
  threads { service_class: "gold" count: 2 }
  threads {
    service_class: "silver"  # { not open
    count: 3
  }
  queue_length_max: 40
}
nodes { name: "n" hosts { service: "index" partitions: [0, 1] } }
)";

TEST(SpecEditTest, ReplacesTheSettingsAndNothingElse) {
  EXPECT_EQ(*EditSpec(kSpec, "index", kSettings), R"(# A spec.
name: "dev"
services {
  name: "tier1"  # asked first
  parameters { key: "path" value: "a } brace" }
}
services {
  name: "index"
  concurrency: 13  # as measured
  threads { service_class: "gold" count: 8 }
  threads { service_class: "silver" count: 4 }
  queue_length_max: 40
}
nodes { name: "n" hosts { service: "index" partitions: [0, 1] } }
)");
}

TEST(SpecEditTest, EditingTwiceIsEditingOnce) {
  const std::string once = *EditSpec(kSpec, "index", kSettings);
  EXPECT_EQ(*EditSpec(once, "index", kSettings), once);
}

TEST(SpecEditTest, SettingsThatWereNotThereStandBehindTheName) {
  const std::string edited = *EditSpec(kSpec, "tier1", kSettings);
  EXPECT_NE(edited.find("  name: \"tier1\"  # asked first\n  concurrency: 13\n"
                        "  threads { service_class: \"gold\" count: 8 }\n"
                        "  threads { service_class: \"silver\" count: 4 }\n  parameters"),
            std::string::npos)
      << edited;
}

TEST(SpecEditTest, AServiceOnOneLineStaysThere) {
  EXPECT_EQ(
      *EditSpec("services: < name: 'a' module: 'm' >", "a", {.concurrency = 2, .classes = {}}),
      "services: < name: 'a' concurrency: 2 module: 'm' >");
  EXPECT_EQ(*EditSpec("services { name: 'a' threads { count: 1 } concurrency: 9 }", "a", kSettings),
            "services { name: 'a' concurrency: 13 threads { service_class: \"gold\" count: 8 } "
            "threads { service_class: \"silver\" count: 4 } }");
}

TEST(SpecEditTest, NoRemarkSwallowsASetting) {
  EXPECT_EQ(*EditSpec("services { name: 'a'  # first\n}\n", "a", {.concurrency = 2, .classes = {}}),
            "services { name: 'a' concurrency: 2  # first\n}\n");
}

TEST(SpecEditTest, RefusesWhatIsNoSpecOrNotInIt) {
  using neptune::StatusCode;
  const auto code = [](const char* text) { return EditSpec(text, "a", kSettings).status().code(); };
  EXPECT_EQ(code("services { name: 'b' }"), StatusCode::kNotFound);
  EXPECT_EQ(code(""), StatusCode::kNotFound);
  EXPECT_EQ(code("services { name: 'a'"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("services { name: 'a }"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("services { name: 'a' ] }"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("services { name: }"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("services { name: 'a' } services { name: 'a' }"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("}"), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::tools
