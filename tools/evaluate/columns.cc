#include "tools/evaluate/columns.h"

#include <memory>

#include "tools/streams/line_reader.h"

namespace search::tools {

std::vector<std::string_view> Columns(std::string_view line, std::string_view separators) {
  std::vector<std::string_view> columns;
  while (true) {
    const size_t begin = line.find_first_not_of(separators);
    if (begin == std::string_view::npos) return columns;
    line.remove_prefix(begin);
    const size_t size = line.find_first_of(separators);
    columns.push_back(line.substr(0, size));
    line.remove_prefix(columns.back().size());
  }
}

neptune::Status ForEachLine(const std::string& path, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  return ForEachLine(source.get(), path, line_size_max, use);
}

neptune::Status ForEachLine(ByteSource* source, const std::string& name, size_t line_size_max,
                            const std::function<neptune::Status(std::string_view)>& use) {
  LineReader reader(source, line_size_max);
  LineReader::Line line;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool has_line, reader.Next(&line));
    if (!has_line) return neptune::OkStatus();
    if (line.too_long) {
      return neptune::InvalidArgument(name, ":", line.number, ": longer than ", line_size_max,
                                      " bytes");
    }
    std::string_view text = line.text;
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.empty()) continue;
    const neptune::Status status = use(text);
    if (!status.ok()) {
      return neptune::Status(status.code(), neptune::StrCat(name, ":", line.number, ": ",
                                                            neptune::ToStd(status.message())));
    }
  }
}

}  // namespace search::tools
