#include "neptune/node/neptuned_main.h"

int main(int argc, char** argv) { return neptune::NeptunedMain(argc, argv); }
