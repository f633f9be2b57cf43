// The program //tools:search: sends a query to a running frontend and prints the answer.

#include <gflags/gflags.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/search_request.h"
#include "neptune/base/strings.h"
#include "tools/http/http_get.h"
#include "tools/search/answer_reader.h"
#include "tools/search/terminal_page.h"
#include "tools/terminal/command_line.h"

DEFINE_string(target, "http://127.0.0.1:8080", "the frontend to ask, http://HOST:PORT");
DEFINE_int32(start, 0, "number of the first result, from 0");
DEFINE_int32(count, 10, "number of results, 1 to 100");
DEFINE_bool(explain, false, "say how the score of each result came about");
DEFINE_bool(by_date, false, "the newest documents first");
DEFINE_bool(sites, false, "count all matching documents by site");
DEFINE_bool(spell, true, "false: search for the query as it is typed, whatever its spelling");
DEFINE_bool(relax, true, "false: insist on what the query demands, even if nothing has it");
DEFINE_bool(plain, false, "the query is running text: nothing in it is an operator");
DEFINE_bool(json, false, "print the frontend's JSON answer as it is");
DEFINE_string(color, "auto", "auto (on a terminal, unless NO_COLOR is set), always or never");
DEFINE_int32(width, 0, "output width in columns; 0: the terminal's width, at most 100");
DEFINE_int32(timeout_ms, 10'000, "time limit for the answer");

namespace search::tools {
namespace {

using frontend::SearchRequestLimits;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr int kWidthDefault = 80;
constexpr int kWidthMax = 100;

const char kUsage[] =
    R"(Searches the documents of a running cluster.

  bazel run //tools:search -- "hash table iterator"
  bazel run //tools:search -- --count=3 'title:vector -recursive'
  bazel run //tools:search -- --explain --sites "hash table iterator"
  bazel run //tools:search -- --json "memory order" | python3 -m json.tool

Give the query as one argument, in quotes; http://HOST:PORT/help describes the query language.
The exit status is 0 if there was an answer, complete or not, with or without results; 1 if there was
none; 2 if the query or a flag is wrong.)";

bool WantsColours() {
  if (FLAGS_color == "always") return true;
  if (FLAGS_color == "never") return false;
  const char* const terminal = getenv("TERM");
  const char* const no_color = getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && (no_color == nullptr || *no_color == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

int Width() {
  if (FLAGS_width > 0) return FLAGS_width;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthDefault;
  return std::min<int>(size.ws_col, kWidthMax);
}

Status CheckFlags() {
  if (FLAGS_start < 0 || FLAGS_start > static_cast<int>(SearchRequestLimits::kStartMax)) {
    return InvalidArgument("--start must be 0 to ", SearchRequestLimits::kStartMax);
  }
  if (FLAGS_count < 1 || FLAGS_count > static_cast<int>(SearchRequestLimits::kCountMax)) {
    return InvalidArgument("--count must be 1 to ", SearchRequestLimits::kCountMax);
  }
  if (FLAGS_color != "auto" && FLAGS_color != "always" && FLAGS_color != "never") {
    return InvalidArgument("--color must be auto, always or never");
  }
  if (FLAGS_timeout_ms < 1) return InvalidArgument("--timeout_ms must be at least 1");
  if (FLAGS_width < 0) return InvalidArgument("--width must not be negative");
  return neptune::OkStatus();
}

StatusOr<neptune::HttpResponse> Ask(const HttpOrigin& target, const std::string& query) {
  const std::string path = frontend::SearchPath({.query = query,
                                                 .start = static_cast<uint32_t>(FLAGS_start),
                                                 .count = static_cast<uint32_t>(FLAGS_count),
                                                 .format = frontend::PageFormat::kJson,
                                                 .explain = FLAGS_explain,
                                                 .site_facets = FLAGS_sites,
                                                 .by_date = FLAGS_by_date,
                                                 .is_plain = FLAGS_plain,
                                                 .may_correct = FLAGS_spell,
                                                 .may_relax = FLAGS_relax});
  auto response = HttpGet(target, path, {{"Accept", "application/json"}, {"Connection", "close"}},
                          {.timeout = std::chrono::milliseconds(FLAGS_timeout_ms)});
  if (response.status().code() == neptune::StatusCode::kUnavailable) {
    return neptune::Unavailable(neptune::ToStd(response.status().message()),
                                "\nIs a cluster running there? ./tools/up starts one; "
                                "--target=http://HOST:PORT selects another.");
  }
  return response;
}

Status Search(const std::vector<std::string>& words) {
  NEPTUNE_RETURN_IF_ERROR(CheckFlags());
  NEPTUNE_ASSIGN_OR_RETURN(const HttpOrigin target, ParseHttpOrigin(FLAGS_target));
  std::string query;
  for (const std::string& word : words) neptune::StrAppend(&query, query.empty() ? "" : " ", word);
  if (!frontend::SearchPageRequest{.query = query}.has_query()) {
    return InvalidArgument("no query was given; put it in quotes, or see --help");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::HttpResponse response, Ask(target, query));
  if (response.status != 200) return ReadProblem(response.status, response.body);
  if (FLAGS_json) {
    fwrite(response.body.data(), 1, response.body.size(), stdout);
    return neptune::OkStatus();
  }
  NEPTUNE_ASSIGN_OR_RETURN(const frontend::SearchAnswer answer, ReadAnswer(response.body));
  const std::string page = TerminalPage(
      answer, {.width = Width(), .has_colours = WantsColours(), .base_url = target.base_url});
  fwrite(page.data(), 1, page.size(), stdout);
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto words = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  return search::tools::ExitStatus(search::tools::Search(words), "search");
}
