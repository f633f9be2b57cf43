// Pages from reports: everything is shown and escaped, and the JSON parses.

#include "neptune/admin/admin_pages.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// Sun, 06 Nov 1994 08:49:37 GMT.
constexpr WallTime kTime{784111777'000'000'000};

AdminPageHeader Header() {
  return {.node_name = "node<1>", .now = kTime, .uptime = seconds(90), .not_ready_reasons = {}};
}

std::vector<StatusReport> Reports() {
  StatusReport report;
  report.name = "my <part> & \"more\"";
  report.AddFact("queue length", 7);
  report.AddFact("share", 0.25);
  report.AddFact("on", true);
  report.AddFact("text", "<script>alert(1)</script>\xff");
  StatusTable table{.title = "Peers", .columns = {"name", "load"}, .rows = {}, .rows_left_out = 3};
  table.AddRow("a&b", 1.5);
  table.AddRow("inf", std::numeric_limits<double>::infinity());
  report.tables.push_back(table);
  return {report};
}

bool Contains(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

TEST(AdminPagesTest, HtmlShowsFactsAndTables) {
  const std::string html = RenderStatusHtml(Header(), Reports());
  EXPECT_TRUE(Contains(html, "<dt>queue length</dt><dd>7</dd>"));
  EXPECT_TRUE(Contains(html, "<dt>on</dt><dd>yes</dd>"));
  EXPECT_TRUE(Contains(html, "<td>a&amp;b</td><td class=\"n\">1.5</td>"));
  EXPECT_TRUE(Contains(html, "3 more rows"));
  EXPECT_TRUE(Contains(html, "<span class=\"good\">ready</span>"));
  EXPECT_TRUE(Contains(html, "up 00:01:30"));
}

TEST(AdminPagesTest, TablesOfEqualTitlesHaveDifferentNames) {
  std::vector<StatusReport> reports = Reports();
  reports[0].name = "calls";
  reports[0].tables.push_back(reports[0].tables[0]);
  const std::string html = RenderStatusHtml(Header(), reports);
  EXPECT_TRUE(Contains(html, "role=\"region\" tabindex=\"0\" aria-label=\"calls: Peers\">"));
  EXPECT_TRUE(Contains(html, "role=\"region\" tabindex=\"0\" aria-label=\"calls: Peers (2)\">"));
}

TEST(AdminPagesTest, HtmlEscapesEveryText) {
  const std::string html = RenderStatusHtml(Header(), Reports());
  EXPECT_FALSE(Contains(html, "<script>"));
  EXPECT_FALSE(Contains(html, "<part>"));
  EXPECT_FALSE(Contains(html, "node<1>"));
}

TEST(AdminPagesTest, HtmlNeedsNoScriptAndFitsAPhone) {
  const std::string html = RenderStatusHtml(Header(), {});
  EXPECT_TRUE(Contains(html, "name=\"viewport\""));
  EXPECT_TRUE(Contains(html, "prefers-color-scheme:dark"));
  EXPECT_TRUE(Contains(html, "this node has no status sections"));
  EXPECT_FALSE(Contains(html, "script"));
}

TEST(AdminPagesTest, ReasonsAreShownIfNotReady) {
  AdminPageHeader header = Header();
  header.not_ready_reasons = {"loading <x>", "draining"};
  EXPECT_TRUE(Contains(RenderStatusHtml(header, {}),
                       "<span class=\"bad\">not ready: loading &lt;x&gt;; draining</span>"));
}

TEST(AdminPagesTest, JsonKeepsKindsOfValues) {
  const auto json = nlohmann::json::parse(RenderStatusJson(Header(), Reports()));
  EXPECT_EQ(json["node"], "node<1>");
  EXPECT_EQ(json["time"], "1994-11-06T08:49:37Z");
  EXPECT_EQ(json["uptime_seconds"], 90);
  EXPECT_EQ(json["ready"], true);
  const auto& section = json["sections"][0];
  EXPECT_EQ(section["name"], "my <part> & \"more\"");
  EXPECT_EQ(section["facts"]["queue length"], 7);
  EXPECT_EQ(section["facts"]["share"], 0.25);
  EXPECT_EQ(section["facts"]["on"], true);
  EXPECT_EQ(section["tables"][0]["columns"], (nlohmann::json{"name", "load"}));
  EXPECT_EQ(section["tables"][0]["rows"][0], (nlohmann::json{"a&b", 1.5}));
  EXPECT_TRUE(section["tables"][0]["rows"][1][1].is_null());
  EXPECT_EQ(section["tables"][0]["rows_left_out"], 3);
}

TEST(AdminPagesTest, IndexLinksEveryPage) {
  const std::string html = RenderIndexHtml(Header(), {{"/a", "first"}, {"/b", "second <b>"}});
  EXPECT_TRUE(Contains(html, "<a href=\"/a\">/a</a></dt><dd>first</dd>"));
  EXPECT_TRUE(Contains(html, "second &lt;b&gt;"));
}

TEST(AdminPagesTest, UptimeCountsDays) {
  EXPECT_EQ(FormatUptime(seconds(0)), "00:00:00");
  EXPECT_EQ(FormatUptime(hours(76) + seconds(65)), "3 d 04:01:05");
}

}  // namespace
}  // namespace neptune
