// Checks what snippet.h promises of every snippet; for tests and the fuzz target.

#pragma once

#include <string>
#include <string_view>

#include "docserver/snippet/snippet.h"

namespace search::docserver {

// The first broken promise, or an empty string: size, valid UTF-8, no empty or equal neighbouring
// pieces, every stretch between separators found in the text, in order.
std::string BrokenPromise(std::string_view text, const SnippetOptions& options,
                          const google::protobuf::RepeatedPtrField<SnippetPiece>& pieces);

}  // namespace search::docserver
