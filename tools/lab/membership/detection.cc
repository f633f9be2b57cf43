#include "tools/lab/membership/detection.h"

#include <algorithm>

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::TimePoint;
using neptune::ToSeconds;

// The time after the event from which no sight has the victim in `field`; -1 if a node has it to
// the end.
double GoneAfter(const DetectionNotes& notes, std::set<std::string> Sight::*field) {
  TimePoint gone = notes.event;
  for (const auto& [node, sights] : notes.sights) {
    if ((sights.back().*field).contains(kDetectionVictim)) return -1;
    for (size_t i = sights.size(); i > 0 && !(sights[i - 1].*field).contains(kDetectionVictim);
         --i) {
      if (i == 1 || (sights[i - 2].*field).contains(kDetectionVictim)) {
        gone = std::max(gone, sights[i - 1].at);
      }
    }
  }
  return ToSeconds(gone - notes.event);
}

// The time from which all nodes have the final view; -1 if their final views differ.
double EqualAfter(const DetectionNotes& notes) {
  if (notes.sights.empty()) return -1;
  const std::set<std::string>& last = notes.sights.begin()->second.back().known;
  TimePoint equal = notes.event;
  for (const auto& [node, sights] : notes.sights) {
    if (sights.back().known != last) return -1;
    size_t i = sights.size() - 1;
    while (i > 0 && sights[i - 1].known == last) --i;
    equal = std::max(equal, sights[i].at);
  }
  return ToSeconds(equal - notes.event);
}

}  // namespace

std::string DetectionBalancing(const std::string& scenario) {
  return scenario == "loss" || scenario == "saturation" ? "poll" : "random";
}

Measurement FiguresOf(const DetectionNotes& notes) {
  TimePoint calm = notes.event;
  double failed = 0;
  for (const HurtCall& call : notes.hurt) {
    if (call.end >= notes.event) calm = std::max(calm, call.end);
    if (!call.ok) ++failed;
  }
  return {{"known_by_none_s", GoneAfter(notes, &Sight::known)},
          {"offered_by_none_s", GoneAfter(notes, &Sight::offered)},
          {"views_equal_s", EqualAfter(notes)},
          {"callers_s", ToSeconds(calm - notes.event)},
          {"calls", static_cast<double>(notes.call_count)},
          {"failed_calls", failed},
          {"expelled", static_cast<double>(notes.expelled_count)}};
}

}  // namespace search::lab
