#include "tools/mtrr/service_state.h"

#include <gtest/gtest.h>

namespace search::tools {
namespace {

constexpr char kClass[] =
    R"({"name":"gold","threads":8,"busy":2,"waiting":1,"queue_length_max":40,"arrived":1234,)"
    R"("served":1200,"refused":3,"expired":31,"run_s":12.5,"processor_s":10.1,"response_s":15})";

std::string Node(const std::string& classes) {
  return R"({"services":[{"name":"index","concurrency":12,"busy":3,"classes":[)" + classes + "]}]}";
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(ServiceStateTest, EverythingANodeSaysIsRead) {
  const NodeServices node = *ParseServices(Node(kClass));
  const ServiceState* index = node.Find("index");
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->concurrency, 12);
  EXPECT_EQ(index->busy_count, 3);
  ASSERT_EQ(index->classes.size(), 1u);
  const ServiceClassState& gold = index->classes[0];
  EXPECT_EQ(gold.counters.name, "gold");
  EXPECT_EQ(gold.counters.thread_count, 8);
  EXPECT_EQ(gold.busy_count, 2);
  EXPECT_EQ(gold.waiting_count, 1);
  EXPECT_EQ(gold.queue_length_max, 40);
  EXPECT_EQ(gold.counters.arrived, 1234u);
  EXPECT_EQ(gold.counters.served, 1200u);
  EXPECT_EQ(gold.counters.lost, 34u);
  EXPECT_EQ(gold.counters.run_s, 12.5);
  EXPECT_EQ(gold.counters.processor_s, 10.1);
  EXPECT_EQ(gold.counters.response_s, 15);
  EXPECT_EQ(node.Find("frontend"), nullptr);
}

TEST(ServiceStateTest, AClassMayHaveNoNumberOfItsOwn) {
  const NodeServices node =
      *ParseServices(Node(Replaced(kClass, R"("threads":8)", R"("threads":null)")));
  EXPECT_FALSE(node.Find("index")->classes[0].counters.thread_count.has_value());
  EXPECT_EQ(SettingsOf(*node.Find("index")), (ThreadSettings{.concurrency = 12, .classes = {}}));
}

TEST(ServiceStateTest, WhatIsWrongIsNamed) {
  const auto message = [](const std::string& json) {
    return std::string(ParseServices(json).status().message());
  };
  EXPECT_NE(message("{").find("not JSON"), std::string::npos);
  EXPECT_NE(message("[]").find("not an object"), std::string::npos);
  EXPECT_NE(message("{}").find("'services'"), std::string::npos);
  EXPECT_NE(
      message(Node(Replaced(kClass, R"("arrived":1234)", R"("arrived":-1)"))).find("'arrived'"),
      std::string::npos);
  EXPECT_NE(message(Node(Replaced(kClass, R"("threads":8,)", ""))).find("'threads'"),
            std::string::npos);
  EXPECT_NE(message(Node(Replaced(kClass, R"("run_s":12.5)", R"("run_s":"long")"))).find("'run_s'"),
            std::string::npos);
  EXPECT_NE(message(Node(Replaced(kClass, R"("threads":8)", R"("threads":99999999999)")))
                .find("too large"),
            std::string::npos);
}

TEST(ServiceStateTest, SettingsAreWhatANodeTakesAndGivesBack) {
  const ThreadSettings settings{.concurrency = 12, .classes = {{"gold", 8}, {"bronze", 4}}};
  EXPECT_EQ(ThreadSettingsJson(settings), R"({"classes":{"bronze":4,"gold":8},"concurrency":12})");
  const NodeServices node = *ParseServices(Node(kClass));
  EXPECT_EQ(SettingsOf(*node.Find("index")),
            (ThreadSettings{.concurrency = 12, .classes = {{"gold", 8}}}));
}

}  // namespace
}  // namespace search::tools
