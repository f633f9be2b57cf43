// Points, lengths, rows and plots that sched_ experiments with one server share.
//
// Source: [Shen02] 4.5.2, figures 4.8 to 4.10.
// Threads: pure functions.

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
// The settings of figures 4.8 and 4.9.
inline constexpr ClassSetting kClassSettings[] = {{"Micro-benchmark", "hybrid"},
                                                  {"Differentiated Search", "throughput"},
                                                  {"Differentiated Search", "resptime"},
                                                  {"Differentiated Search", "hybrid"}};

Point ClassPoint(const ClassSetting& setting, const std::string& policy, double demand);
// All settings, demands and policies; a smoke run has one setting and two demands.
std::vector<Point> ClassPoints(Length length, const std::vector<std::string>& policies);
// The run of such a point.
ClassRun ClassRunOf(const Point& point, const RunContext& context);
// "Differentiated Search, hybrid, 125 %".
std::string WhereOf(const Point& point);

Estimate LossOf(const Results& results, const Point& point);
// The reduction of loss from `other` to `one`, relative to the loss of `other`.
Estimate LessLossPercent(const Results& results, const Point& one, const Point& other);

// Adds a plot of loss over demand, with one line for each policy.
void DrawLoss(const Results& results, const ClassSetting& setting,
              const std::vector<std::string>& policies, Judgement* judgement);

}  // namespace search::lab
