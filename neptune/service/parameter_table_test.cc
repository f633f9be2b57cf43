// The table of a module's parameters: values that are set, refused ones, and descriptions.

#include "neptune/service/parameter_table.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Values {
  uint16_t port = 80;
  uint64_t count = 7;
  double share = 0.5;
  Duration wait = milliseconds(20);
  bool on = false;
  std::string path;
  std::optional<std::string> prefix;
  std::string kind = "memory";
};

ParameterTable TableOf(Values* values) {
  ParameterTable table;
  table.RequiredText("path", &values->path, "the folder");
  table.Whole("port", {1, 65'535}, &values->port, "the port");
  table.Whole("count", {.min = 1}, &values->count, "how many");
  table.Real("share", {0, 1}, &values->share, "the share");
  table.Millis("wait_ms", {milliseconds(1), seconds(2)}, &values->wait, "how long");
  table.Flag("on", &values->on, "whether it is on");
  table.Text("prefix", &values->prefix, "the prefix");
  table.Choice("kind", {"memory", "redis", "disk"}, &values->kind, "the kind");
  return table;
}

Status Set(std::map<std::string, std::string> given) {
  Values values;
  given.emplace("path", "p");
  return TableOf(&values).Set(given);
}

std::string Message(const std::string& name, const std::string& text) {
  const Status status = Set({{name, text}});
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(ParameterTableTest, SetsWhatIsGivenAndKeepsTheOtherDefaults) {
  Values values;
  const Status status = TableOf(&values).Set({{"path", "a b"},
                                              {"port", "65535"},
                                              {"share", "0.25"},
                                              {"wait_ms", "2000"},
                                              {"on", "true"},
                                              {"prefix", ""},
                                              {"kind", "disk"}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(values.path, "a b");
  EXPECT_EQ(values.port, 65'535);
  EXPECT_EQ(values.count, 7u);
  EXPECT_EQ(values.share, 0.25);
  EXPECT_EQ(values.wait, seconds(2));
  EXPECT_TRUE(values.on);
  EXPECT_EQ(values.prefix, "");
  EXPECT_EQ(values.kind, "disk");
}

TEST(ParameterTableTest, NamesTheLimitOfARefusedValue) {
  EXPECT_EQ(Message("port", "0"),
            "parameter port is '0'; it must be a whole number from 1 to 65535");
  EXPECT_EQ(Message("port", "65536"),
            "parameter port is '65536'; it must be a whole number from 1 to 65535");
  EXPECT_EQ(Message("wait_ms", "0"),
            "parameter wait_ms is '0'; it must be a whole number from 1 to 2000");
  EXPECT_EQ(Message("share", "1.5"), "parameter share is '1.5'; it must be a number from 0 to 1");
  EXPECT_EQ(Message("on", "yes"), "parameter on is 'yes'; it must be true or false");
  EXPECT_EQ(Message("kind", "tape"), "parameter kind is 'tape'; it must be memory, redis or disk");
}

TEST(ParameterTableTest, RefusesTextThatIsNotANumber) {
  for (const char* const text :
       {"", " 1", "1 ", "-1", "+1", "1.5", "0x1", "one", "99999999999999999999"}) {
    EXPECT_NE(Message("count", text), "") << text;
  }
  for (const char* const text : {"", "nan", "inf", "-0.1", "0.5x"}) {
    EXPECT_NE(Message("share", text), "") << text;
  }
}

TEST(ParameterTableTest, NamesTheParametersThatExistForAnUnknownOne) {
  EXPECT_EQ(Message("prot", "80"),
            "unknown parameter 'prot'; its module has path, port, count, share, wait_ms, on, "
            "prefix, kind");
  EXPECT_EQ(ParameterTable().Set({{"a", ""}}).message(),
            "unknown parameter 'a'; its module has no parameters");
}

TEST(ParameterTableTest, RefusesASpecWithoutARequiredParameter) {
  Values values;
  EXPECT_EQ(TableOf(&values).Set({}).message(), "the parameter 'path' is missing: the folder");
}

TEST(ParameterTableTest, DescribesEachParameter) {
  Values values;
  const std::vector<ParameterDescription> all = TableOf(&values).Describe();
  ASSERT_EQ(all.size(), 8u);
  EXPECT_TRUE(all[0].required);
  EXPECT_EQ(all[1].name, "port");
  EXPECT_EQ(all[1].limits, "a whole number from 1 to 65535");
  EXPECT_EQ(all[1].default_value, "80");
  EXPECT_EQ(all[1].help, "the port");
  EXPECT_FALSE(all[1].required);
  EXPECT_EQ(all[4].default_value, "20");
  EXPECT_EQ(all[7].limits, "memory, redis or disk");
}

}  // namespace
}  // namespace neptune
