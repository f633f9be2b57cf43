// How a program ends that was not started because its capsules could not be set up.
//
// Threads: no state. Read by C too.

#pragma once

enum { kPreloadFailed = 78 };  // EX_CONFIG of sysexits.h
