// Reads one file of any kind - HTML, Markdown, man page - as an HTML page; .gz files unpacked.
//
// Source: CommonMark with tables (md4c); mdoc and man as mandoc renders them.
// Reads files; man pages go through the program mandoc.
// Threads: thread-safe.
// Errors: those of reading and of ReadHtml, with the file's name; kNotFound if mandoc is missing.
// Limits: kHtmlSizeMax bytes of each file; 10 s of mandoc.

#pragma once

#include <string>
#include <string_view>

#include "index/html/html_reader.h"
#include "neptune/base/status.h"
#include "tools/corpus/page_tree.h"
#include "tools/terminal/progress.h"

namespace search::tools {

neptune::StatusOr<html::HtmlPage> ReadPage(const std::string& file, PageKind kind,
                                           const NanosecondClock& clock);

// Links to other .md files stay as they are.
neptune::StatusOr<html::HtmlPage> ReadMarkdown(std::string_view markdown);

// `roff` is the page's source; links to other pages become "../manS/NAME.S".
neptune::StatusOr<html::HtmlPage> ReadManPage(std::string_view roff, const NanosecondClock& clock);

}  // namespace search::tools
