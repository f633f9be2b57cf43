// The HTML of an experiment, and of the report.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/record.h"

namespace search::lab {

// `figures` are HTML, one for each plot. Everything else is escaped.
std::string SectionHtml(const Experiment& experiment, const RunFacts& facts,
                        const Judgement& judgement, const std::vector<std::string>& figures);

struct Section {
  std::string name;
  std::string html;
};
std::string PageHtml(const std::vector<Section>& sections);

}  // namespace search::lab
