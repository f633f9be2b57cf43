#include "frontend/testing/json_answer.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace search::frontend {

nlohmann::json JsonBody(const TimedResponse& response) {
  nlohmann::json body = nlohmann::json::parse(response.http.body, nullptr, false);
  EXPECT_FALSE(body.is_discarded()) << response.http.status << " " << response.http.body;
  return body;
}

nlohmann::json JsonAnswer(const TimedResponse& response) {
  EXPECT_EQ(response.http.status, 200) << response.http.body;
  return JsonBody(response);
}

std::string Parameter(const std::string& name, const std::string& value) {
  return neptune::StrCat("parameters { key: '", name, "' value: '", value, "' } ");
}

}  // namespace search::frontend
