// Rendering of the admin pages: status as HTML and JSON, and the index.
//
// The pages need no script, fit a phone, and follow the reader's light or dark setting. All text of
// a report is escaped here.
//
// No I/O, no clock.
// Threads: pure functions.
// Units: see the names of the header's fields.
// Limits: those of StatusReport.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status_section.h"
#include "neptune/base/time.h"

namespace neptune {

// Facts about the node that every page shows.
struct AdminPageHeader {
  std::string node_name;
  WallTime now;
  Duration uptime{};
  // Reasons why the node is not ready; empty if it is.
  std::vector<std::string> not_ready_reasons;
};

// One entry of the index page.
struct AdminPageLink {
  std::string path;
  std::string description;
};

std::string RenderStatusHtml(const AdminPageHeader& header,
                             const std::vector<StatusReport>& reports);
// {"node":…,"time":…,"uptime_seconds":…,"ready":…,"not_ready_reasons":[…],
//  "sections":[{"name":…,"facts":{…},"tables":[{"title":…,"columns":[…],"rows":[[…]],
//  "rows_left_out":…}]}]}
std::string RenderStatusJson(const AdminPageHeader& header,
                             const std::vector<StatusReport>& reports);

// The Content-Security-Policy of both pages: allows their one style sheet, by its hash, and nothing
// else.
std::string_view AdminContentSecurityPolicy();

std::string RenderIndexHtml(const AdminPageHeader& header, const std::vector<AdminPageLink>& links);

// Formats as "2026-11-21T03:52:10Z".
std::string FormatUtcTime(WallTime time);
// Formats as "3 d 04:05:06".
std::string FormatUptime(Duration uptime);

}  // namespace neptune
