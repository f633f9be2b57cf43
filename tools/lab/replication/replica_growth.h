// Scalability of a replicated service over its number of nodes and degree of replication: points,
// rows and plot.
//
// Source: [Shen02] 5.4.4, figures 5.5 and 5.6.
// Threads: pure functions.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/replication/replica_run.h"

namespace search::lab {

inline constexpr char kGrowthRate[] = "rate_per_s";

Point GrowthPoint(int nodes, int degree);
std::vector<Point> GrowthPoints(Length length);
int NodesOf(const Point& point);
int DegreeOf(const Point& point);
// The length of the load of a point, which makes the number of requests independent of the number
// of nodes.
neptune::Duration GrowthDuration(const Point& point, const RunContext& context);
// The highest rate of a service that would do `ideal` a second if every processor were always busy.
double HighestGrowthRate(const RunAtRate& run, double ideal, const RunContext& context);

// Adds rows: the growth of each degree with its nodes, at least 0.9 of linear, and the cost of
// degree 4. `figure` is the paper's.
void JudgeGrowth(const Results& results, const std::string& figure, const std::string& paper_cost,
                 Judgement* judgement);
plot::Plot GrowthFigure(const Results& results, const std::string& name, const std::string& title);

}  // namespace search::lab
