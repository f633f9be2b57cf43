#include "frontend/render/html/console_page.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "frontend/render/html/page_frame.h"
#include "frontend/render/html/table.h"
#include "frontend/render/html/trace_pages.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/strings.h"

namespace search::frontend::html {
namespace {

using neptune::StrCat;

constexpr uint32_t kRefreshEveryS = 5;

// "0-3, 7".
std::string Ranges(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    neptune::StrAppend(&text, text.empty() ? "" : ", ", numbers[i]);
    if (end - i > 1) neptune::StrAppend(&text, "–", numbers[end - 1]);
    i = end;
  }
  return text;
}

// One square per partition; the more nodes offer the partition, the darker the square.
void WriteReplicas(MarkupWriter& html, const ServiceCover& cover) {
  constexpr int kSide = 12;
  constexpr size_t kPerRow = 64;
  const Element cell(html, "td");
  const size_t count = cover.nodes_of_partition.size();
  const int rows = static_cast<int>((count + kPerRow - 1) / kPerRow);
  const int columns = static_cast<int>(std::min(count, kPerRow));
  const Element picture(html, "svg",
                        {{"class", "partitions"},
                         {"aria-hidden", "true"},
                         {"width", columns * kSide},
                         {"height", rows * kSide},
                         {"viewBox", StrCat("0 0 ", columns * kSide, " ", rows * kSide)}});
  size_t i = 0;
  for (const auto& [partition, nodes] : cover.nodes_of_partition) {
    const Element square(html, "rect",
                         {{"class", nodes.size() > 1 ? "replicated" : "single"},
                          {"x", static_cast<int>(i % kPerRow) * kSide},
                          {"y", static_cast<int>(i / kPerRow) * kSide},
                          {"width", kSide - 2},
                          {"height", kSide - 2}});
    ++i;
  }
}

void WriteServices(MarkupWriter& html, const std::vector<ServiceCover>& covers) {
  html.TextElement("h2", "Services");
  WriteTable(
      html, "Services",
      {"Service", "Partitions", "Fewest replicas", "Implementation", "Replicated"}, [&] {
        for (const ServiceCover& cover : covers) {
          const Element row(html, "tr");
          html.TextElement("th", cover.name, {{"scope", "row"}});
          html.TextElement("td", StrCat(cover.nodes_of_partition.size()), {{"class", "number"}});
          html.TextElement("td", StrCat(cover.replicas_min()), {{"class", "number"}});
          html.TextElement("td", absl::StrJoin(cover.implementations, ", "));
          WriteReplicas(html, cover);
        }
      });
}

std::string StateOf(const ConsoleNode& node) {
  if (node.draining) return "draining";
  return node.asked.ok() ? "serving" : StrCat("no status: ", neptune::ToStd(node.asked.message()));
}

void WriteLoad(MarkupWriter& html, uint32_t load, uint32_t load_max) {
  const Element cell(html, "td", {{"class", "number"}});
  html.Text(StrCat(load, " "));
  html.TextElement("meter", StrCat(load),
                   {{"min", 0},
                    {"max", std::max(load_max, 1u)},
                    {"value", load},
                    {"aria-label", "load relative to the busiest node"}});
}

void WriteNodes(MarkupWriter& html, const ClusterState& state) {
  html.TextElement("h2", "Nodes");
  uint32_t load_max = 0;
  for (const ConsoleNode& node : state.nodes) load_max = std::max(load_max, node.load_index);
  WriteTable(html, "Nodes", {"Node", "State", "Endpoint", "Load", "Processors used", "Partitions"},
             [&] {
               for (const ConsoleNode& node : state.nodes) {
                 const Element row(html, "tr");
                 html.TextElement("th", node.name, {{"scope", "row"}});
                 html.TextElement("td", StateOf(node));
                 html.TextElement("td", node.call_endpoint, {{"class", "number"}});
                 WriteLoad(html, node.load_index, load_max);
                 html.TextElement("td", absl::StrFormat("%.2f", node.processor_share),
                                  {{"class", "number"}});
                 std::vector<std::string> offered;
                 for (const ConsoleService& service : node.services) {
                   offered.push_back(StrCat(service.name, " ", Ranges(service.partitions)));
                 }
                 html.TextElement("td", absl::StrJoin(offered, "; "));
               }
             });
}

void WriteSearches(MarkupWriter& html, const std::vector<TraceLog::Kept>& searches) {
  html.TextElement("h2", "Latest searches");
  if (searches.empty()) {
    html.TextElement("p", "None yet.");
  } else {
    WriteTraceTable(html, "Latest searches", searches);
  }
  const Element line(html, "p");
  html.TextElement("a", "All kept searches", {{"href", "/tracez"}});
}

void WriteSections(MarkupWriter& html, const ClusterState& state) {
  std::string_view section;
  const std::vector<ConsoleTable> tables = Together(state);
  for (const ConsoleTable& table : tables) {
    if (table.section != section) html.TextElement("h2", Capitalised(table.section));
    section = table.section;
    if (!table.title.empty()) html.TextElement("h3", table.title);
    const std::string caption =
        table.title.empty() ? table.section : StrCat(table.section, ": ", table.title);
    const std::vector<std::string_view> columns(table.columns.begin(), table.columns.end());
    WriteTable(html, caption, columns, [&] {
      for (const std::vector<std::string>& cells : table.rows) {
        const Element row(html, "tr");
        for (const std::string& cell : cells) html.TextElement("td", cell, {{"dir", "auto"}});
      }
    });
  }
}

}  // namespace

std::string ConsolePage(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                        uint32_t refresh_s, const Site& site) {
  return RenderFrame(
      {.title = "Console", .is_wide = true, .refresh_s = refresh_s}, site, [&](MarkupWriter& html) {
        const Element text(html, "div", {{"class", "text"}});
        html.TextElement("h1", "Console");
        {
          const Element line(html, "p");
          html.Text(StrCat(state.nodes.size(), " nodes, as of ", Utc(state.taken_at), " UTC. "));
          if (refresh_s == 0) {
            html.TextElement("a", "Refresh automatically",
                             {{"href", StrCat("/console?refresh=", kRefreshEveryS)}});
          } else {
            html.TextElement("a", "Stop refreshing", {{"href", "/console"}});
          }
          html.Text(" · ");
          html.TextElement("a", "View as JSON", {{"href", "/console?format=json"}});
        }
        WriteServices(html, CoverOf(state));
        WriteNodes(html, state);
        WriteSearches(html, searches);
        WriteSections(html, state);
      });
}

}  // namespace search::frontend::html
