// Whether a url that is new to a store may get the number that is its hash.
//
// Threads: a pure function over a store; it reads the store and so blocks.
// Errors: those of DocumentStore::Fetch.

#pragma once

#include <string_view>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

// True if the number that a new document with this url would get (index::DocIdOfUrl) is that of a
// document with another url. False also if that number belongs to another partition.
neptune::StatusOr<bool> IsNumberTaken(const DocumentStore& store, std::string_view url);

}  // namespace search::docserver
