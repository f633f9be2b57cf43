#include "neptune/examples/micro/micro_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::MicroModule)
