// Exit status of a program that was not started because its capsules could not be set up.
//
// Threads: no state. Also included by C.

#pragma once

enum { kPreloadFailed = 78 };  // EX_CONFIG of sysexits.h
