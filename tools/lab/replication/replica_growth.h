// A replicated service over the number of its nodes and its degree of replication: points, rows and plot of experiments
// that ask how it grows.
//
// Source: [Shen02] 5.4.4, figures 5.5 and 5.6. Threads: pure functions.

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
// How long the load of such a point is to be: as many requests of few nodes as of many.
neptune::Duration GrowthDuration(const Point& point, const RunContext& context);
// Of a service that can do `ideal` a second if every processor is busy all the time.
double HighestGrowthRate(const RunAtRate& run, double ideal, const RunContext& context);

// That each degree grows with its nodes, at least 0.9 of linear; what degree 4 costs. `figure` is the paper's.
void JudgeGrowth(const Results& results, const std::string& figure, const std::string& paper_cost,
                 Judgement* judgement);
plot::Plot GrowthFigure(const Results& results, const std::string& name, const std::string& title);

}  // namespace search::lab
