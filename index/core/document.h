// A document as input of the index core: texts by field, a doc_id and a static rank.
//
// Threads: a plain value; the views must outlive the call they are passed to.
// Units: static_rank in [0, 1], 1 best.
// Limits: kFieldTokensMax words of a field are indexed, the rest is cut off.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace search::index {

// The fields of a document whose words are scored. The number is part of the segment format.
enum class Field : uint8_t {
  kTitle = 0,
  kBody = 1,
  // Text that others wrote about the document (anchor texts of links); unrestricted words and
  // phrases match it, at a low weight.
  kExtra = 2,
};
inline constexpr size_t kFieldCount = 3;

// Maximum number of words indexed per field of a document. Also the largest position + 1: words at
// higher positions are cut off.
inline constexpr uint32_t kFieldTokensMax = (uint32_t{1} << 19) - 1;

struct IndexedDocument {
  // Unique in the whole collection, across all partitions and both tiers. Equal scores are ordered
  // by it, ascending.
  uint64_t doc_id = 0;
  std::string_view title;
  std::string_view body;
  std::string_view extra_text;
  // Name that `site:` matches: a host (`docs.python.org`) or a package (`python3-doc`). May be
  // empty.
  std::string_view site;
  // Query-independent quality; a value outside [0, 1] or NaN is refused.
  float static_rank = 0;
  // Declared fields that filters know (document_fields.h); each may be empty.
  std::string_view url = {};
  std::string_view language = {};  // a language tag: "en", "pt-BR"
  std::string_view date = {};      // "2024-03-05"
};

}  // namespace search::index
