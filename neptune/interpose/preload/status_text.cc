#include "neptune/interpose/preload/status_text.h"

#include <algorithm>
#include <cstdio>

#include "neptune/base/time.h"

namespace neptune::interpose {
namespace {

using Line = std::vector<std::string>;

std::string Milliseconds(Duration time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", ToMillis(time));
  return text;
}

Line LineOf(const CapsuleReport& report) {
  const CapsuleStatistics& all = report.statistics;
  const CapsuleControl::Statistics& control = all.control;
  Line line = {report.config.name};
  for (const uint64_t count : {uint64_t{control.resident_count}, uint64_t{all.waiting_count},
                               control.entered, control.done, control.failed, control.timed_out,
                               control.refused, control.bypassed, all.terminated, all.migrated}) {
    line.push_back(std::to_string(count));
  }
  line.push_back(Milliseconds(control.mean_time));
  line.push_back(Milliseconds(all.tail_time));
  return line;
}

std::string Aligned(const std::vector<Line>& lines) {
  std::vector<size_t> widths(lines.front().size());
  for (const Line& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    // Names are left-aligned, numbers right-aligned.
    text += line[0] + std::string(widths[0] - line[0].size(), ' ');
    for (size_t i = 1; i < line.size(); ++i) {
      text += std::string(widths[i] - line[i].size() + 2, ' ') + line[i];
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string StatusText(const std::vector<CapsuleReport>& reports) {
  std::vector<Line> lines = {{"capsule", "residents", "waiting", "entered", "done", "failed",
                              "timed_out", "refused", "bypassed", "terminated", "migrated",
                              "mean_ms", "tail_ms"}};
  for (const CapsuleReport& report : reports) lines.push_back(LineOf(report));
  return Aligned(lines);
}

}  // namespace neptune::interpose
