// Points, lengths, rows and plots that sched_ experiments of one server have in common.
//
// Source: [Shen02] 4.5.2, figures 4.8 to 4.10. Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/scheduling/class_workload.h"

namespace search::lab {

inline constexpr char kLossPercent[] = "loss_percent";

struct ClassSetting {
  const char* workload;
  const char* form;
};
// Those of figures 4.8 and 4.9.
inline constexpr ClassSetting kClassSettings[] = {{"Micro-benchmark", "hybrid"},
                                                  {"Differentiated Search", "throughput"},
                                                  {"Differentiated Search", "resptime"},
                                                  {"Differentiated Search", "hybrid"}};

Point ClassPoint(const ClassSetting& setting, const std::string& policy, double demand);
// All settings, demands and policies; a smoke run has one setting and two demands.
std::vector<Point> ClassPoints(Length length, const std::vector<std::string>& policies);
// What such a point asks for.
ClassRun ClassRunOf(const Point& point, const RunContext& context);
// "Differentiated Search, hybrid, 125 %".
std::string WhereOf(const Point& point);

Estimate LossOf(const Results& results, const Point& point);
// By how much of the other's loss this one's is smaller.
Estimate LessLossPercent(const Results& results, const Point& one, const Point& other);

// Loss over demand, one line a policy.
void DrawLoss(const Results& results, const ClassSetting& setting,
              const std::vector<std::string>& policies, Judgement* judgement);

}  // namespace search::lab
