// The C library's streams over descriptors that park.
//
// The C library reads and writes its streams without calling the interposed functions. A stream
// over a tracked descriptor is therefore opened with callbacks (fopencookie), whose calls park.
//
// Threads: as fdopen(3). A stream is used by one user-level thread at a time: the C library's lock
//   of a stream belongs to the kernel thread, and is held while a call parks.

#pragma once

#include <cstdio>

namespace neptune::interpose {

std::FILE* OpenStream(int fd, const char* mode);
// Like fopen(3), with callbacks for a file that a device capsule takes; else the C library's
// stream.
std::FILE* OpenFileStream(const char* path, const char* mode);
// Like fileno(3), also for streams of OpenStream.
int DescriptorOf(std::FILE* stream);

}  // namespace neptune::interpose
