#include "neptune/examples/blast/blast_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::BlastModule)
