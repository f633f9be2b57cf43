#include "neptune/wire/name_numbers.h"

#include <gtest/gtest.h>

#include <string>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

std::optional<NameNumber> Sent(SentNames& names, const std::string& service,
                               const std::string& method, const std::string& service_class = "") {
  return names.NumberOf(ServiceName(service), MethodName(method), service_class);
}

RequestNames Names(const std::string& method) {
  return {ServiceName("echo"), MethodName(method), ""};
}

TEST(SentNamesTest, ACombinationGetsOneNumber) {
  SentNames names;
  const auto first = Sent(names, "echo", "Echo");
  const auto second = Sent(names, "echo", "Sum");
  const auto third = Sent(names, "echo", "Echo", "gold");
  ASSERT_TRUE(first && second && third);
  EXPECT_TRUE(first->is_new && second->is_new && third->is_new);
  EXPECT_EQ(first->number, 0);
  EXPECT_EQ(second->number, 1);
  EXPECT_EQ(third->number, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Sent(names, "echo", "Echo")->number, 0);
    EXPECT_FALSE(Sent(names, "echo", "Echo")->is_new);
    EXPECT_EQ(Sent(names, "echo", "Echo", "gold")->number, 2);
  }
}

TEST(SentNamesTest, NamesOverTheLimitsHaveNoNumber) {
  SentNames names;
  for (size_t i = 0; i < kNameNumberCountMax; ++i) {
    EXPECT_TRUE(Sent(names, "echo", StrCat("m", i)).has_value());
  }
  EXPECT_FALSE(Sent(names, "echo", "one more").has_value());
  EXPECT_EQ(Sent(names, "echo", "m7")->number, 7) << "known names keep theirs";

  SentNames long_names;
  size_t count = 0;
  while (Sent(long_names, std::string(250, 's'), StrCat("m", count), std::string(250, 'c'))) {
    ++count;
  }
  EXPECT_EQ(count, kNameSizeMax / 502);
}

TEST(ReceivedNamesTest, UnderstandsWhatIsSent) {
  SentNames sent;
  ReceivedNames received;
  for (size_t i = 0; i < kNameNumberCountMax; ++i) {
    const RequestNames names = Names(StrCat("m", i));
    const auto number = sent.NumberOf(names.service, names.method, names.service_class);
    ASSERT_TRUE(number && number->is_new);
    ASSERT_TRUE(received.Define(number->number, names).ok());
    ASSERT_EQ(*received.Find(number->number), names);
  }
}

TEST(ReceivedNamesTest, RefusesWhatACallerDoesNotSend) {
  ReceivedNames names;
  EXPECT_EQ(names.Find(0), nullptr);
  EXPECT_EQ(names.Define(1, Names("a")).code(), StatusCode::kDataLoss) << "not the next number";
  EXPECT_TRUE(names.Define(0, Names("a")).ok());
  EXPECT_TRUE(names.Define(0, Names("a")).ok()) << "the same again";
  EXPECT_EQ(names.Define(0, Names("b")).code(), StatusCode::kDataLoss);
  EXPECT_EQ(names.Find(0)->method, MethodName("a"));
  EXPECT_EQ(names.Find(1), nullptr);
}

TEST(ReceivedNamesTest, HoldsNoMoreThanItsLimits) {
  ReceivedNames names;
  for (size_t i = 0; i < kNameNumberCountMax; ++i) {
    ASSERT_TRUE(names.Define(static_cast<uint16_t>(i), Names(StrCat(i))).ok());
  }
  EXPECT_FALSE(names.Define(kNameNumberCountMax, Names("x")).ok());
  ReceivedNames large;
  EXPECT_FALSE(large.Define(0, Names(std::string(kNameSizeMax, 'x'))).ok());
}

}  // namespace
}  // namespace neptune
