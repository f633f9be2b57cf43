#include "tools/replay/answer_facts.h"

#include <simdjson.h>

#include <algorithm>

namespace search::tools {
namespace {

namespace dom = simdjson::dom;

CacheFact CacheOf(std::string_view outcome) {
  if (outcome == "hit") return CacheFact::kHit;
  return outcome == "miss" ? CacheFact::kMiss : CacheFact::kUnknown;
}

bool IsCutShort(dom::element tier) {
  bool completely = true;
  return tier["evaluated_completely"].get(completely) == simdjson::SUCCESS && !completely;
}

// An earlier search of the answer was cut short: the answer is partial, although the search that it
// shows was not, and no document is missing.
bool IsEarlierCutShort(dom::object coverage, double quality) {
  bool complete = true;
  dom::array missing;
  return coverage["complete"].get(complete) == simdjson::SUCCESS && !complete && quality >= 1 &&
         coverage["documents"]["missing"].get(missing) == simdjson::SUCCESS && missing.size() == 0;
}

}  // namespace

struct AnswerFactsReader::Parser {
  dom::parser parser;
};

AnswerFactsReader::AnswerFactsReader() : parser_(std::make_unique<Parser>()) {}
AnswerFactsReader::~AnswerFactsReader() = default;

std::optional<AnswerFacts> AnswerFactsReader::Read(std::string_view json) {
  dom::element document;
  dom::object coverage;
  double quality = 1;
  if (parser_->parser.parse(json.data(), json.size()).get(document) ||
      document["coverage"].get(coverage) || coverage["quality"].get(quality)) {
    return std::nullopt;
  }
  AnswerFacts facts{.quality = static_cast<float>(std::clamp(quality, 0.0, 1.0))};
  dom::array tiers;
  if (!coverage["tiers"].get(tiers)) {
    for (const dom::element tier : tiers) facts.terminated |= IsCutShort(tier);
  }
  facts.terminated |= IsEarlierCutShort(coverage, quality);
  std::string_view outcome;
  if (!coverage["cache"]["outcome"].get(outcome)) facts.cache = CacheOf(outcome);
  return facts;
}

}  // namespace search::tools
