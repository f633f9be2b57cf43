// A service for nodes that have faults: requests of every length, and one that does harm.
//
//   Echo          short; returns the request
//   Work MICROS   long; uses that much processor time, then returns the request
//   Answer SIZE   short; returns that many bytes, at most kNemesisAnswerSizeMax
//   Hang PATH     short; blocks the kernel thread of its loop while a file is at PATH, for at most
//                 kNemesisHangMax, as a method that calls what it should not
//
// Threads: as ServiceModule says.
// Errors: kInvalidArgument a request is not a number, or too large.

#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "neptune/service/service_module.h"

namespace search::chaos {

inline constexpr char kNemesisService[] = "nemesis";
inline constexpr size_t kNemesisAnswerSizeMax = size_t{60} << 20;
inline constexpr std::chrono::seconds kNemesisHangMax{60};

class NemesisModule final : public neptune::ServiceModule {
 public:
  neptune::Status Start(neptune::ModuleContext& context) override;
  std::string implementation() const override { return "nemesis"; }
};

}  // namespace search::chaos
