// The metrics, tables and plots of the cap_ experiments: windows of time, and throughput by the
// second.
//
// Metrics of a window "before": response_ms_before, answered_per_s_before, quality_per_s_before,
// loss_percent_before, quality_loss_percent_before. Metrics of the second that ends at 7 s:
// quality_per_s_7s, and response_ms_7s of its arrivals.
//
// Source: [Chu05] VI, tables II-V, figures 7-13.
// Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/capsules/dependency_run.h"
#include "tools/lab/engine/judgement.h"
#include "tools/lab/engine/results.h"

namespace search::lab {

// A part of a run, on the run's clock.
struct DependencyWindow {
  std::string name;
  double begin_s = 0;
  double end_s = 0;
};

Measurement MeasureWindows(const DependencyResult& result,
                           const std::vector<DependencyWindow>& windows);

// The point of a scheme, "BTP", and a size of the front's pool.
Point DependencyPoint(const std::string& scheme, int pool);
// All sizes of bounded pools, then the schemes `others`; in a smoke run the small pool only.
std::vector<Point> DependencyPoints(Length length, const std::vector<std::string>& others);
// The scheme of such a point; `fields` are those of the front's capsules. REQUIRES: `point` has
// one.
DependencyScheme SchemeOf(const Point& point, const std::string& fields = "");
// The bounded pool with the smallest mean of the metric.
Point BestPool(const Results& results, const std::string& loss_metric);
// The points of tables and figures: the small pool, the best one, and `others`.
std::vector<Point> ShownPoints(const Results& results, const std::string& loss_metric,
                               const std::vector<std::string>& others);
// "BTP, 64 threads", "DC".
std::string DependencyName(const Point& point);

// The paper's figures of a scheme in a window; empty: none.
struct PaperFigures {
  std::string scheme;
  std::string loss;
  std::string response;
};
struct WindowTable {
  DependencyWindow window;
  std::string loss = "loss_percent";  // or "quality_loss_percent"
  // Figures of bounded pools are shown in the row of the small one.
  std::vector<PaperFigures> paper{};
  // Prefix of each row; empty if there is only one set-up.
  std::string set_up{};
};
// Adds rows without a line: loss and response time of each point.
void ShowWindow(const Results& results, const std::vector<Point>& points, const WindowTable& table,
                Judgement* judgement);

// One line for each point over the seconds of a run.
struct DependencyFigure {
  std::string name;
  std::string title;
  std::string y_label;
  std::string metric;  // "quality_per_s", "response_ms"
  std::vector<plot::Mark> marks;
};
plot::Plot DrawOverTime(const Results& results, const std::vector<Point>& points,
                        const DependencyFigure& figure);

}  // namespace search::lab
