// The work service as a shared library, for nodes of the real world.

#include "tools/workload/work_module.h"

NEPTUNE_SERVICE_MODULE(search::workload::WorkModule)
