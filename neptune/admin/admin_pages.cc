#include "neptune/admin/admin_pages.h"

#include <glog/logging.h>
#include <openssl/evp.h>

#include <map>
#include <string>

#include "absl/strings/str_format.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/json_text.h"
#include "neptune/wire/http/url_decoding.h"

namespace neptune {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--line:#d5d9df;--soft:#f4f6f8;--quiet:#5b6470;--link:#0b57d0;
--good:#176b36;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--line:#3a4049;--soft:#1d2127;--quiet:#a2abb8;
--link:#8ab4f8;--good:#7bd69a;--bad:#f2958f}}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:72rem;padding:1rem;
background:Canvas;color:CanvasText}
a{color:var(--link)}
h1{font-size:1.4rem;margin:.2rem 0;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1rem 0 .3rem}
.quiet{color:var(--quiet)}.good{color:var(--good)}.bad{color:var(--bad)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.6rem 0}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.1rem 1rem;margin:.4rem 0}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .7rem;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
th{background:var(--soft);font-weight:600}
td.n{text-align:right}
.skip{position:absolute;left:.5rem;top:.5rem;padding:.5rem 1rem;background:Canvas;transform:translateY(-200%)}
.skip:focus{transform:none}
:focus-visible{outline:3px solid var(--link);outline-offset:1px}
)";

void AppendEscaped(std::string_view text, std::string* html) {
  for (const char c : text) {
    switch (c) {
      case '&':
        *html += "&amp;";
        break;
      case '<':
        *html += "&lt;";
        break;
      case '>':
        *html += "&gt;";
        break;
      case '"':
        *html += "&quot;";
        break;
      case '\'':
        *html += "&#39;";
        break;
      default:
        *html += c;
    }
  }
}

std::string Escaped(std::string_view text) {
  std::string html;
  AppendEscaped(text, &html);
  return html;
}

bool IsNumber(const StatusCell& cell) {
  return std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
}

std::string CellText(const StatusCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* number = std::get_if<int64_t>(&cell)) return StrCat(*number);
  return absl::StrFormat("%.6g", std::get<double>(cell));
}

nlohmann::ordered_json CellJson(const StatusCell& cell) {
  return std::visit([](const auto& value) { return nlohmann::ordered_json(value); }, cell);
}

void AppendPageBegin(const AdminPageHeader& header, std::string_view title, std::string* html) {
  StrAppend(
      html,
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>",
      Escaped(header.node_name), " - ", title, "</title><style>", kStyle,
      "</style></head>\n<body><header><a class=\"skip\" href=\"#content\">Skip to content</a><h1>",
      Escaped(header.node_name), "</h1><div class=\"quiet\">up ", FormatUptime(header.uptime),
      " &middot; ", FormatUtcTime(header.now), " &middot; ");
  if (header.not_ready_reasons.empty()) {
    *html += "<span class=\"good\">ready</span>";
  } else {
    *html += "<span class=\"bad\">not ready:";
    for (const std::string& reason : header.not_ready_reasons) {
      StrAppend(html, " ", Escaped(reason), ";");
    }
    html->back() = '<';
    *html += "/span>";
  }
  *html += "</div></header>\n";
}

// The table scrolls sideways on narrow screens, is reachable by keyboard and has a name for screen
// readers, which has to be unique.
void AppendTable(const std::string& unescaped_name, const StatusTable& table, std::string* html) {
  const std::string name = Escaped(unescaped_name);
  if (!table.title.empty()) StrAppend(html, "<h3>", Escaped(table.title), "</h3>");
  StrAppend(html, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"", name,
            "\"><table aria-label=\"", name, "\"><thead><tr>");
  for (const std::string& column : table.columns) {
    StrAppend(html, "<th scope=\"col\">", Escaped(column), "</th>");
  }
  *html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    *html += "<tr>";
    for (const StatusCell& cell : row) {
      *html += IsNumber(cell) ? "<td class=\"n\">" : "<td>";
      AppendEscaped(CellText(cell), html);
      *html += "</td>";
    }
    *html += "</tr>\n";
  }
  *html += "</tbody></table></div>\n";
  if (table.rows_left_out > 0) {
    StrAppend(html, "<p class=\"quiet\">", table.rows_left_out, " more rows</p>\n");
  }
}

void AppendSection(const StatusReport& report, std::string* html) {
  StrAppend(html, "<section><h2 id=\"", PercentEncode(report.name), "\">", Escaped(report.name),
            "</h2>\n");
  if (!report.facts.empty()) {
    *html += "<dl>";
    for (const auto& [fact, value] : report.facts) {
      StrAppend(html, "<dt>", Escaped(fact), "</dt><dd>", Escaped(CellText(value)), "</dd>\n");
    }
    *html += "</dl>\n";
  }
  std::map<std::string, int> name_counts;
  for (const StatusTable& table : report.tables) {
    std::string name = table.title.empty() ? report.name : StrCat(report.name, ": ", table.title);
    const int count = ++name_counts[name];
    if (count > 1) StrAppend(&name, " (", count, ")");
    AppendTable(name, table, html);
  }
  *html += "</section>\n";
}

nlohmann::ordered_json TableJson(const StatusTable& table) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back(nlohmann::ordered_json::array());
    for (const StatusCell& cell : row) cells.push_back(CellJson(cell));
  }
  return {{"title", table.title},
          {"columns", table.columns},
          {"rows", std::move(rows)},
          {"rows_left_out", table.rows_left_out}};
}

nlohmann::ordered_json SectionJson(const StatusReport& report) {
  auto facts = nlohmann::ordered_json::object();
  for (const auto& [fact, value] : report.facts) facts[fact] = CellJson(value);
  auto tables = nlohmann::ordered_json::array();
  for (const StatusTable& table : report.tables) tables.push_back(TableJson(table));
  return {{"name", report.name}, {"facts", std::move(facts)}, {"tables", std::move(tables)}};
}

}  // namespace

std::string_view AdminContentSecurityPolicy() {
  static const std::string& policy = *new std::string([] {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    CHECK_EQ(EVP_Digest(kStyle.data(), kStyle.size(), digest, &size, EVP_sha256(), nullptr), 1);
    unsigned char text[2 * EVP_MAX_MD_SIZE];
    const int text_size = EVP_EncodeBlock(text, digest, static_cast<int>(size));
    return StrCat("default-src 'none'; style-src 'sha256-",
                  std::string_view(reinterpret_cast<const char*>(text), text_size),
                  "'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
  }());
  return policy;
}

std::string RenderStatusHtml(const AdminPageHeader& header,
                             const std::vector<StatusReport>& reports) {
  std::string html;
  AppendPageBegin(header, "status", &html);
  html += "<nav><a href=\"/\">all pages</a> <a href=\"?format=json\">as JSON</a>";
  for (const StatusReport& report : reports) {
    // Browsers decode a fragment before comparing it with ids, and the id is the encoded name:
    // encode twice.
    StrAppend(&html, " <a href=\"#", PercentEncode(PercentEncode(report.name)), "\">",
              Escaped(report.name), "</a>");
  }
  html += "</nav>\n<main id=\"content\" tabindex=\"-1\">";
  for (const StatusReport& report : reports) AppendSection(report, &html);
  if (reports.empty()) html += "<p class=\"quiet\">this node has no status sections</p>";
  html += "</main></body></html>\n";
  return html;
}

std::string RenderStatusJson(const AdminPageHeader& header,
                             const std::vector<StatusReport>& reports) {
  auto sections = nlohmann::ordered_json::array();
  for (const StatusReport& report : reports) sections.push_back(SectionJson(report));
  return JsonText({{"node", header.node_name},
                   {"time", FormatUtcTime(header.now)},
                   {"uptime_seconds", ToSeconds(header.uptime)},
                   {"ready", header.not_ready_reasons.empty()},
                   {"not_ready_reasons", header.not_ready_reasons},
                   {"sections", std::move(sections)}});
}

std::string RenderIndexHtml(const AdminPageHeader& header,
                            const std::vector<AdminPageLink>& links) {
  std::string html;
  AppendPageBegin(header, "pages", &html);
  html += "<main id=\"content\" tabindex=\"-1\"><dl>\n";
  for (const AdminPageLink& link : links) {
    StrAppend(&html, "<dt><a href=\"", Escaped(link.path), "\">", Escaped(link.path),
              "</a></dt><dd>", Escaped(link.description), "</dd>\n");
  }
  html += "</dl></main></body></html>\n";
  return html;
}

std::string FormatUtcTime(WallTime time) {
  using std::chrono::days;
  using std::chrono::seconds;
  const std::chrono::sys_seconds instant{
      std::chrono::floor<seconds>(std::chrono::nanoseconds(time.ns_since_1970))};
  const auto day = std::chrono::floor<days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  return absl::StrFormat("%04d-%02d-%02dT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                         clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string FormatUptime(Duration uptime) {
  const int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(uptime).count();
  const std::string clock =
      absl::StrFormat("%02d:%02d:%02d", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
  return seconds < 86400 ? clock : StrCat(seconds / 86400, " d ", clock);
}

}  // namespace neptune
