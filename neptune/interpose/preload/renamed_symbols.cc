// The calls of ../symbols.cc, under names of which the program sees nothing.

#define NEPTUNE_NAME(name) neptune_symbol_##name

#include "neptune/interpose/symbols.cc"
