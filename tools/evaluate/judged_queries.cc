#include "tools/evaluate/judged_queries.h"

#include <charconv>

#include "tools/evaluate/columns.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;

constexpr size_t kLineSizeMax = size_t{1} << 20;

neptune::Status AddJudgment(std::string_view line, JudgmentsByQuery* judgments) {
  const std::vector<std::string_view> columns = Columns(line, " \t");
  if (columns.size() != 3 && columns.size() != 4) {
    return InvalidArgument("a judgment has 3 or 4 columns");
  }
  const std::string_view number = columns.back();
  int grade = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), grade);
  if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size()) {
    return InvalidArgument("the grade is not a whole number");
  }
  (*judgments)[std::string(columns[0])][std::string(columns[columns.size() - 2])] = grade;
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<std::vector<JudgedQuery>> ReadQueries(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  return ReadQueries(source.get(), path);
}

neptune::StatusOr<std::vector<JudgedQuery>> ReadQueries(ByteSource* source,
                                                        const std::string& name) {
  std::vector<JudgedQuery> queries;
  NEPTUNE_RETURN_IF_ERROR(ForEachLine(source, name, kLineSizeMax, [&](std::string_view line) {
    const size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos) {
      return InvalidArgument("a query is an id, a tab and a text");
    }
    if (queries.size() == kJudgedQueriesMax) {
      return InvalidArgument("more than ", kJudgedQueriesMax, " queries");
    }
    queries.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
    return neptune::OkStatus();
  }));
  return queries;
}

neptune::StatusOr<JudgmentsByQuery> ReadJudgments(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  return ReadJudgments(source.get(), path);
}

neptune::StatusOr<JudgmentsByQuery> ReadJudgments(ByteSource* source, const std::string& name) {
  JudgmentsByQuery judgments;
  size_t count = 0;
  NEPTUNE_RETURN_IF_ERROR(ForEachLine(source, name, kLineSizeMax, [&](std::string_view line) {
    if (++count > kJudgmentsMax) {
      return InvalidArgument("more than ", kJudgmentsMax, " judgments");
    }
    return AddJudgment(line, &judgments);
  }));
  return judgments;
}

}  // namespace search::tools
