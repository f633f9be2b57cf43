// The C library's streams over descriptors that park.
//
// The C library reads and writes its streams without passing through the names that are taken over. A stream that is
// opened over a tracked descriptor is therefore one that calls back, and its calls park.
//
// Threads: as fdopen(3). A stream is used by one user-level thread at a time: the C library's lock of a stream belongs
//   to the kernel thread, and is held while a call parks.

#pragma once

#include <cstdio>

namespace neptune::interpose {

std::FILE* OpenStream(int fd, const char* mode);
// As fopen(3): of a file that a device capsule takes; else the C library's own.
std::FILE* OpenFileStream(const char* path, const char* mode);
// The descriptor of a stream that OpenStream opened too.
int DescriptorOf(std::FILE* stream);

}  // namespace neptune::interpose
