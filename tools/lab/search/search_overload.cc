// Overload of a whole search by clients of three classes.

#include <algorithm>
#include <array>

#include "neptune/base/strings.h"
#include "tools/lab/engine/experiment.h"
#include "tools/lab/workloads/search_load.h"
#include "tools/lab/workloads/synthetic_search.h"

namespace search::lab {
namespace {

using neptune::StatusOr;
using neptune::StrCat;

constexpr double kGuarantee = 0.2;
constexpr double kLoads[] = {0.25, 0.5, 0.75, 1, 1.5, 2, 3};
constexpr const char* kClassNames[] = {"gold", "silver", "bronze"};
constexpr double kClassShares[] = {0.15, 0.25, 0.6};
constexpr size_t kGold = 0;
constexpr size_t kBronze = 2;
constexpr char kGoodput[] = "goodput_of_capacity";

std::string Share(size_t number) { return StrCat(kClassNames[number], "_share"); }
std::string Loss(size_t number) { return StrCat(kClassNames[number], "_loss_percent"); }

Point PointOf(double load) { return Point{}.Set("load", load); }

std::vector<Point> Points(Length length) {
  std::vector<Point> points;
  for (const double load : kLoads) {
    if (length == Length::kSmoke && load != 0.5 && load != 2) continue;
    points.push_back(PointOf(load));
  }
  return points;
}

Measurement Summary(const std::vector<tools::Measurement>& measurements, double begin_s,
                    double end_s, double capacity) {
  std::array<double, 3> offered{};
  std::array<double, 3> good{};
  double refused = 0;
  double incomplete = 0;
  for (const tools::Measurement& one : DueIn(measurements, begin_s, end_s)) {
    ++offered[one.service_class];
    good[one.service_class] += IsGoodAnswer(one);
    refused += one.outcome == tools::Outcome::kRejected;
    incomplete += one.outcome == tools::Outcome::kAnswered && one.quality < 1;
  }
  const double all_good = good[0] + good[1] + good[2];
  const double all = offered[0] + offered[1] + offered[2];
  Measurement measured{{kGoodput, all_good / (end_s - begin_s) / capacity},
                       {"offered_per_s", all / (end_s - begin_s)},
                       {"refused_percent", 100 * refused / std::max(all, 1.0)},
                       {"incomplete_percent", 100 * incomplete / std::max(all, 1.0)}};
  for (size_t number = 0; number < 3; ++number) {
    measured[Share(number)] = good[number] / std::max(all_good, 1.0);
    measured[Loss(number)] = 100 - 100 * good[number] / std::max(offered[number], 1.0);
  }
  return measured;
}

StatusOr<Measurement> Run(const Point& point, const RunContext& context) {
  const double warm_up_s = context.Pick(0.3, 2.0, 4.0);
  NEPTUNE_ASSIGN_OR_RETURN(const SyntheticIndex* const index, SearchIndex(context));
  NEPTUNE_ASSIGN_OR_RETURN(
      const auto search,
      SyntheticSearch::Start(*index, {.service_classes = kSearchClasses,
                                      .service_fields = "scheduling: 'waiting_cost'"}));
  const double capacity = kSearchProcessors / neptune::ToSeconds(index->demanding_cost());
  HttpLoadOptions load = SearchLoad(search->http_endpoint(), context);
  load.rate = capacity * point.Number("load");
  load.length_s = context.Pick(1.0, 8.0, 24.0);
  load.queries = DemandingQuestions();
  for (size_t number = 0; number < 3; ++number) {
    load.class_shares.emplace_back(kClassNames[number], kClassShares[number]);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const auto measurements, RunHttpLoad(load));
  Measurement measured = Summary(measurements, warm_up_s, load.length_s, capacity);
  measured["cost_ms"] = neptune::ToMillis(index->demanding_cost());
  return measured;
}

void Judge(const Results& results, Judgement* judgement) {
  Point peak = PointOf(kLoads[1]);
  for (const Point& point : results.points()) {
    if (results.Mean(point, kGoodput).middle > results.Mean(peak, kGoodput).middle) peak = point;
  }
  if (results.Has(PointOf(3))) {
    judgement->AtLeast("complete answers within 1 s at 300 %, relative to the peak", "",
                       results.MeanRatio(PointOf(3), peak, kGoodput), 0.95, "x");
  }
  const Point most = results.points().back();
  judgement
      ->AtMost("gold's loss at the highest demand; the line is bronze's loss", "",
               results.Mean(most, Loss(kGold)), results.Mean(most, Loss(kBronze)).middle, "%")
      .Shape();
  judgement->Shown("the peak, relative to the capacity of the processors", "",
                   results.Mean(peak, kGoodput), "x");
  for (const Point& point : results.points()) {
    const double load = point.Number("load");
    if (load <= 1) continue;
    for (size_t number = 0; number < 3; ++number) {
      const Estimate share = results.Mean(point, Share(number));
      const Estimate loss = results.Mean(point, Loss(number));
      // A class with less demand than its guarantee may receive less.
      if (loss.middle <= 1) {
        judgement->Shown(StrCat(kClassNames[number], "'s loss at ", 100 * load, " %"), "", loss,
                         "%");
        continue;
      }
      judgement->AtLeast(StrCat(kClassNames[number], "'s share at ", 100 * load, " %"), "", share,
                         kGuarantee - 0.01);
    }
    const bool bronze_is_down = results.Mean(point, Share(kBronze)).middle <= kGuarantee + 0.02;
    if (!bronze_is_down) {
      judgement->AtMost(
          StrCat("gold's loss at ", 100 * load, " %, while bronze has more than its guarantee"), "",
          results.Mean(point, Loss(kGold)), 1, "%");
    }
  }
}

}  // namespace

Experiment SearchOverload() {
  Experiment experiment = SearchExperiment();
  experiment.name = "search_overload";
  experiment.title = "A search under overload";
  experiment.setup =
      "A frontend and two nodes with two index partitions each, on loopback. Queries take about "
      "ten milliseconds: 15 % gold, 25 % silver, 60 % bronze, with a yield of 4, 2 and 1 within "
      "half a second and half of that at one second; each class is guaranteed a fifth. Good "
      "answers are complete ones within a second. The capacity of the processors is derived from "
      "the cost of a query in the index alone, for two processors.";
  experiment.points = Points;
  experiment.run = Run;
  experiment.judge = Judge;
  return experiment;
}

}  // namespace search::lab
