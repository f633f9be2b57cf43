#include "tools/replay/event_list.h"

#include <charconv>

#include "neptune/base/strings.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::StatusOr;

constexpr size_t kLineSizeMax = 4096;

StatusOr<RunEvent> ParseEvent(std::string_view line) {
  const size_t first = line.find('\t');
  const size_t second = first == line.npos ? first : line.find('\t', first + 1);
  RunEvent event;
  const char* const end = line.data() + (first == line.npos ? line.size() : first);
  const auto [stop, error] = std::from_chars(line.data(), end, event.at_s);
  if (first == line.npos || error != std::errc() || stop != end || !(event.at_s >= 0)) {
    return InvalidArgument("not SECONDS<tab>LABEL[<tab>COMMAND]");
  }
  event.label = line.substr(first + 1, second == line.npos ? second : second - first - 1);
  if (second != line.npos) event.command = line.substr(second + 1);
  return event;
}

}  // namespace

StatusOr<std::vector<RunEvent>> ReadEventList(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), kLineSizeMax);
  LineReader::Line line;
  std::vector<RunEvent> events;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) return events;
    if (!line.too_long && (line.text.empty() || line.text.starts_with('#'))) continue;
    const StatusOr<RunEvent> event = ParseEvent(line.text);
    if (!event.ok())
      return neptune::Annotate(event.status(), neptune::StrCat(path, ":", line.number));
    if (events.size() == kEventCountMax) return InvalidArgument(path, ": too many events");
    events.push_back(*event);
  }
}

}  // namespace search::tools
