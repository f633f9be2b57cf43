#include "tools/evaluate/floors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/evaluate/columns.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::Status;

constexpr size_t kLineSizeMax = 4096;

Status AddFloor(std::string_view line, std::vector<Floor>* floors) {
  if (line.starts_with('#')) return neptune::OkStatus();
  const std::vector<std::string_view> columns = Columns(line, "\t");
  if (columns.size() != 4) return InvalidArgument("a floor has 4 columns, separated by tabs");
  if (columns[1] != "at_least" && columns[1] != "at_most") {
    return InvalidArgument("'", columns[1], "' must be at_least or at_most");
  }
  Floor floor{.measure = std::string(columns[0]),
              .is_ceiling = columns[1] == "at_most",
              .bound = 0,
              .reason = std::string(columns[3])};
  const std::string_view number = columns[2];
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), floor.bound);
  if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
      !std::isfinite(floor.bound)) {
    return InvalidArgument("'", number, "' is not a number");
  }
  const auto is_same = [&](const Floor& other) {
    return other.measure == floor.measure && other.is_ceiling == floor.is_ceiling;
  };
  if (std::any_of(floors->begin(), floors->end(), is_same)) {
    return InvalidArgument(floor.measure, " has two bounds of one kind");
  }
  if (floors->size() == kFloorsMax) return InvalidArgument("more than ", kFloorsMax, " floors");
  floors->push_back(std::move(floor));
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<std::vector<Floor>> ReadFloors(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  return ReadFloors(source.get(), path);
}

neptune::StatusOr<std::vector<Floor>> ReadFloors(ByteSource* source, const std::string& name) {
  std::vector<Floor> floors;
  NEPTUNE_RETURN_IF_ERROR(ForEachLine(
      source, name, kLineSizeMax, [&](std::string_view line) { return AddFloor(line, &floors); }));
  return floors;
}

Status CheckFloors(const std::vector<Floor>& floors, const MeasuredValues& measured) {
  std::string beyond;
  for (const Floor& floor : floors) {
    const auto value = measured.find(floor.measure);
    if (value == measured.end()) {
      return InvalidArgument("the floor of ", floor.measure, ", which was not measured");
    }
    const bool holds =
        floor.is_ceiling ? value->second <= floor.bound : value->second >= floor.bound;
    if (holds) continue;
    neptune::StrAppend(&beyond, "\n  ", floor.measure, " is ", value->second, ", must be ",
                       floor.is_ceiling ? "at most " : "at least ", floor.bound, ": ",
                       floor.reason);
  }
  if (beyond.empty()) return neptune::OkStatus();
  return neptune::FailedPrecondition("values beyond their floors:", beyond);
}

}  // namespace search::tools
