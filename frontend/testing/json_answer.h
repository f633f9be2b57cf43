// What the tests of a simulated search read from its answers, and parameters for its spec.
//
// Threads: as gtest's.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "frontend/testing/simulated_search.h"

namespace search::frontend {

// The body as JSON; fails the test if it is none.
nlohmann::json JsonBody(const TimedResponse& response);

// The same of a response with status 200; fails the test for any other.
nlohmann::json JsonAnswer(const TimedResponse& response);

// A parameter of the frontend, as text of a cluster spec.
std::string Parameter(const std::string& name, const std::string& value);

}  // namespace search::frontend
