// Parts shared by both feeds: addresses, summaries and the OpenSearch elements.
//
// Source: OpenSearch 1.1 draft 6.
// Threads: pure functions.

#pragma once

#include <string>

#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"
#include "frontend/model/site.h"
#include "frontend/render/markup/markup_writer.h"

namespace search::frontend::feed {

inline constexpr const char* kOpenSearchNamespace = "http://a9.com/-/spec/opensearch/1.1/";
inline constexpr const char* kAtomNamespace = "http://www.w3.org/2005/Atom";

// Absolute address of this or another page of the answer.
std::string PageUrl(const SearchAnswer& answer, uint32_t start, PageFormat format,
                    const Site& site);

// Absolute address of the result: its own if it is on the Web, else that of the cached copy.
std::string ResultUrl(const SearchResult& result, const Site& site);

std::string ResultTitle(const SearchResult& result);

// "hash table - Neptune Search".
std::string FeedTitle(const SearchAnswer& answer, const Site& site);

// Totals and coverage; begins with "Incomplete" if the answer is partial.
std::string FeedSummary(const SearchAnswer& answer);

// The snippet as HTML with matches in <b>; a feed escapes it again.
std::string SnippetHtml(const SearchResult& result);

// opensearch:totalResults, startIndex, itemsPerPage and Query.
void WriteOpenSearchElements(MarkupWriter& xml, const SearchAnswer& answer);

void WriteXmlDeclaration(MarkupWriter& xml);

}  // namespace search::frontend::feed
