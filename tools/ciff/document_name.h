// Between the names that documents have in files of the Common Index File Format and the addresses
// that a document store keeps.
//
// Threads: pure functions.
// A name that holds a colon is an address itself; any other one becomes "id:NAME", as build_index
// does with documents that have no address. NameOfAddress undoes AddressOfName, but for names like
// "id:NAME", which come back as "NAME".

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
