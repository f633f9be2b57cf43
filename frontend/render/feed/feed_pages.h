// Answers as feeds, the OpenSearch description, and problems in XML.
//
// Source: RSS 2.0, Atom (RFC 4287), OpenSearch 1.1 draft 6 (response elements, description
//   document), RFC 9457 appendix B (problem+xml).
// Threads: pure functions. Errors: none.
// Units: startIndex is 0-based, as declared by indexOffset in the description.

#pragma once

#include <string>

#include "frontend/model/answer.h"
#include "frontend/model/site.h"

namespace search::frontend::feed {

std::string RssFeed(const SearchAnswer& answer, const Site& site);
std::string AtomFeed(const SearchAnswer& answer, const Site& site);
std::string OpenSearchDescription(const Site& site);
std::string ProblemDocument(const ErrorAnswer& error);

}  // namespace search::frontend::feed
