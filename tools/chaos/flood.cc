#include "tools/chaos/flood.h"

#include <glog/logging.h>

#include <charconv>
#include <sstream>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/chaos/nemesis_module.h"
#include "tools/history/register_load.h"

namespace search::chaos {
namespace {

using neptune::StatusOr;
using neptune::StrCat;
using Kind = neptune::Fault::Kind;

StatusOr<double> Field(const std::string& line, const std::string& name) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (!word.starts_with(name + "=")) continue;
    double value = 0;
    const char* const end = word.data() + word.size();
    const auto [last, error] = std::from_chars(word.data() + name.size() + 1, end, value);
    if (error == std::errc() && last == end) return value;
  }
  return neptune::Unavailable("'", line, "' has no ", name);
}

}  // namespace

FloodOptions FloodOf(Kind kind) {
  switch (kind) {
    case Kind::kFloodShort:
      return {.in_flight = 4};
    case Kind::kFloodReads:
      return {.service = history::kRegisterService,
              .method = "Get",
              .request = "k0",
              .connections = 4,
              .in_flight = 1000,
              .is_replicated = true};
    case Kind::kFloodLong:
      return {.method = "Work", .request = "300000", .connections = 16};
    case Kind::kFloodHuge:
      return {.method = "Answer",
              .request = StrCat(kNemesisAnswerSizeMax),
              .connections = 4,
              .reads = false};
    default:
      LOG(FATAL) << neptune::TraitsOf(kind).name << " is not a flood";
  }
}

StatusOr<std::unique_ptr<Flood>> Flood::Start(const neptune::Endpoint& node,
                                              const FloodOptions& options) {
  const std::string text = neptune::Endpoint{node.address, 0}.ToString();
  const std::vector<std::string> arguments = {
      "--address=" + text.substr(0, text.find(':')),
      StrCat("--port=", node.port),
      "--service=" + options.service,
      StrCat("--partition=", options.partition),
      "--method=" + options.method,
      "--request=" + options.request,
      StrCat("--connections=", options.connections),
      StrCat("--in_flight=", options.in_flight),
      StrCat("--replicated=", options.is_replicated ? "true" : "false"),
      StrCat("--garbage=", options.is_garbage ? "true" : "false"),
      StrCat("--reads=", options.reads ? "true" : "false")};
  NEPTUNE_ASSIGN_OR_RETURN(
      auto process, lab::PeerProcess::Start("tools/chaos/flood", arguments, -1, options.network));
  NEPTUNE_RETURN_IF_ERROR(process->ReadLine().status());  // "begin"
  return std::unique_ptr<Flood>(new Flood(std::move(process)));
}

StatusOr<FloodTotals> Flood::Totals() {
  process_->WriteLine("totals");
  NEPTUNE_ASSIGN_OR_RETURN(const std::string line, process_->ReadLine());
  FloodTotals totals;
  NEPTUNE_ASSIGN_OR_RETURN(totals.answers, Field(line, "answers"));
  NEPTUNE_ASSIGN_OR_RETURN(totals.errors, Field(line, "errors"));
  NEPTUNE_ASSIGN_OR_RETURN(totals.p50_us, Field(line, "p50_us"));
  NEPTUNE_ASSIGN_OR_RETURN(totals.p99_us, Field(line, "p99_us"));
  NEPTUNE_ASSIGN_OR_RETURN(totals.max_us, Field(line, "max_us"));
  return totals;
}

}  // namespace search::chaos
