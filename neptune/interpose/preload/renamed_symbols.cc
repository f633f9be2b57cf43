// The calls of ../symbols.cc, under names that the program cannot see.

#define NEPTUNE_NAME(name) neptune_symbol_##name

#include "neptune/interpose/symbols.cc"
