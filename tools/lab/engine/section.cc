#include "tools/lab/engine/section.h"

#include "neptune/base/strings.h"
#include "tools/plot/plot.h"

namespace search::lab {
namespace {

using neptune::StrAppend;
using neptune::StrCat;
using plot::EscapeHtml;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1c1c1c;--soft:#666;--rule:#ccc;--page:#fff;--good:#00704f;--bad:#b3261e;--band:#f5f5f5}
@media (prefers-color-scheme:dark){:root{--ink:#e4e4e4;--soft:#a0a0a0;--rule:#444;--page:#161616;--good:#4cc38a;--bad:#ff8a80;--band:#202020}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);margin:2.5rem auto;max-width:62rem;padding:0 1.2rem}
h1{font-size:1.6rem;margin:0 0 1rem}h2{font-size:1.2rem;margin:0}
section{border-top:1px solid var(--rule);padding:1.6rem 0;break-inside:avoid-page}
.facts,.note,.source{color:var(--soft);margin:.3rem 0}.facts{font-size:.87rem}
table{border-collapse:collapse;margin:1rem 0;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.28rem .8rem .28rem 0;border-bottom:1px solid var(--rule);vertical-align:top}
th{font-weight:600;color:var(--soft);font-size:.87rem}
.yes{color:var(--good)}.no{color:var(--bad);font-weight:600}.shown td{color:var(--soft)}
.cause{background:var(--band);padding:.5rem .8rem;border-left:3px solid var(--bad)}
.verdict{float:right;font-weight:600}
img{max-width:100%;display:block;margin:1rem 0}
a{color:inherit}
@media print{body{max-width:none;margin:0}section{border-top:1px solid #999}}
)";

std::string HoldsCell(const Judgement& judgement, const Row& row) {
  if (!row.has_line()) return "<td></td>";
  if (!judgement.Counts(row)) return "<td>not checked at this length</td>";
  if (row.missed()) return "<td class=\"no\">short of line</td>";
  if (!row.holds()) return StrCat("<td>not decided: ", MoreRunsText(row.decision), "</td>");
  return judgement.length() == Length::kSmoke ? "<td class=\"yes\">shape only</td>"
                                              : "<td class=\"yes\">yes</td>";
}

std::string TableHtml(const Judgement& judgement) {
  std::string html =
      "<table><thead><tr><th></th><th>paper</th><th>ours</th><th>line</th><th>holds</th></tr></"
      "thead>"
      "<tbody>\n";
  for (const Row& row : judgement.rows()) {
    StrAppend(&html, row.has_line() ? "<tr>" : "<tr class=\"shown\">", "<td>", EscapeHtml(row.what),
              "</td><td>", EscapeHtml(row.paper), "</td><td>", EscapeHtml(row.ours), "</td><td>",
              EscapeHtml(row.line), "</td>", HoldsCell(judgement, row), "</tr>\n");
  }
  return html + "</tbody></table>\n";
}

}  // namespace

std::string SectionHtml(const Experiment& experiment, const RunFacts& facts,
                        const Judgement& judgement, const std::vector<std::string>& figures) {
  const Verdict verdict = judgement.verdict();
  std::string html = StrCat(
      "<section id=\"", EscapeHtml(experiment.name), "\"><span class=\"verdict ",
      verdict == Verdict::kHolds    ? "yes\">holds"
      : verdict == Verdict::kMissed ? "no\">short of line"
                                    : "\">not decided",
      "</span><h2>", EscapeHtml(experiment.title), "</h2>\n<p class=\"facts\"><code>",
      EscapeHtml(experiment.name), "</code> &middot; ",
      facts.world == WorldKind::kSim ? "simulated world" : "real world", " &middot; ",
      LengthName(facts.length), " &middot; ", facts.seed_count,
      facts.seed_count == 1 ? " seed" : " seeds", " from ", facts.first_seed,
      facts.look_count == 1 ? "" : StrCat(", judged ", facts.look_count, " times"),
      " &middot; revision ", EscapeHtml(facts.revision), " &middot; ", NumberText(facts.took_s),
      " s</p>\n", "<p class=\"source\">Figures to compare with: ", EscapeHtml(experiment.source),
      ".</p>\n<p>", EscapeHtml(experiment.setup), "</p>\n", TableHtml(judgement));
  for (const Row& row : judgement.rows()) {
    if (!judgement.Counts(row) || !row.missed()) continue;
    StrAppend(&html, "<p class=\"cause\"><strong>Short of line</strong>: ", EscapeHtml(row.what),
              ". ",
              EscapeHtml(row.short_of_line.empty() ? "The cause is not known." : row.short_of_line),
              "</p>\n");
  }
  for (const std::string& note : judgement.notes()) {
    StrAppend(&html, "<p class=\"note\">", EscapeHtml(note), "</p>\n");
  }
  for (const std::string& figure : figures) StrAppend(&html, figure, "\n");
  return html + "</section>\n";
}

std::string PageHtml(const std::vector<Section>& sections) {
  std::string html = StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\"><title>Experiments</title><style>",
      kStyle, "</style></head><body>\n<h1>Experiments</h1>\n<p class=\"facts\">");
  for (const Section& section : sections) {
    StrAppend(&html, "<a href=\"#", EscapeHtml(section.name), "\">", EscapeHtml(section.name),
              "</a> &ensp; ");
  }
  StrAppend(
      &html,
      "</p>\n<p>Intervals have a confidence of 95 %, also where a run looked at its rows several "
      "times. A line holds if the whole interval, of at least five runs, is on its side, and is "
      "missed if none of it is; otherwise it is not decided.</p>\n");
  for (const Section& section : sections) StrAppend(&html, section.html);
  return html + "</body></html>\n";
}

}  // namespace search::lab
