// Whether bytes of a mapped file are in memory, so that reading them waits for no disk.
//
// Pages may leave memory between the question and the reading; that is rare, and costs a wait. Of a
// file that the process neither owns nor may write, the system says that all pages are in memory.
//
// Threads: any. Cost: a system call of about half a microsecond.

#pragma once

#include <string_view>

namespace search::docserver::flat_file {

// REQUIRES: the bytes are part of one mapping of at most 64 MiB.
bool IsInMemory(std::string_view mapped);

}  // namespace search::docserver::flat_file
