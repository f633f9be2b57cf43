#include "tools/build_index/document_numbers.h"

#include <vector>

#include "index/html/document_structure.h"
#include "neptune/base/strings.h"
#include "tools/build_index/rank_stage.h"
#include "tools/build_index/read_stage.h"

namespace search::tools {

neptune::StatusOr<DocumentNumbers> DocumentNumbers::Load(const BuildJournal& journal) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto hashes, ReadValues<UrlHash>(journal.BuildPath(kUrlsName)));
  DocumentNumbers numbers;
  numbers.numbers_.reserve(hashes.size());
  for (size_t i = 0; i < hashes.size(); ++i) {
    numbers.numbers_.emplace(hashes[i], static_cast<uint32_t>(i));
  }
  return numbers;
}

std::optional<uint64_t> DocumentNumbers::Find(std::string_view url) const {
  const auto found = numbers_.find(HashUrl(url));
  return found == numbers_.end() ? std::nullopt : std::optional<uint64_t>(found->second);
}

std::string DocumentNumbers::StoredStructure(std::string_view structure,
                                             std::string_view text) const {
  if (structure.empty()) return {};
  auto parsed = html::ParseStructure(structure, text);
  if (!parsed.ok()) return {};
  html::ResolveTargets(
      [this](const std::string& target) -> std::optional<std::string> {
        if (const auto number = Find(target)) return neptune::StrCat(*number);
        return html::IsWebTarget(target) ? std::optional<std::string>(target) : std::nullopt;
      },
      &*parsed);
  return html::EncodeStructure(*parsed);
}

}  // namespace search::tools
