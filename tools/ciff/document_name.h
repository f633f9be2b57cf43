// Converts between the names of documents in files of the Common Index File Format and the
// addresses in a document store.
//
// Threads: pure functions.
// A name that holds a colon is an address itself; any other one becomes "id:NAME", as build_index
// does with documents that have no address. NameOfAddress is the inverse of AddressOfName, except
// for names like "id:NAME", which become "NAME".

#pragma once

#include <string>
#include <string_view>

namespace search::tools {

inline constexpr std::string_view kNamePrefix = "id:";

inline std::string AddressOfName(std::string_view name) {
  if (name.find(':') != std::string_view::npos) return std::string(name);
  return std::string(kNamePrefix).append(name);
}

inline std::string NameOfAddress(std::string_view address) {
  if (!address.starts_with(kNamePrefix)) return std::string(address);
  const std::string_view rest = address.substr(kNamePrefix.size());
  return std::string(rest.find(':') == std::string_view::npos ? rest : address);
}

}  // namespace search::tools
