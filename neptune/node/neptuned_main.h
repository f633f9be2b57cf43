// The node program's body, in libneptune.so so that the program itself is a few lines.
//
// Layer: node. Threads: main only.

#pragma once

namespace neptune {

// Parses flags, runs the node until SIGTERM or SIGINT, stops it; the process's exit status:
// 0 a clean stop, 1 the node could not start, 2 wrong flags or spec.
int NeptunedMain(int argc, char** argv);

}  // namespace neptune
