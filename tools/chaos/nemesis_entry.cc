#include "tools/chaos/nemesis_module.h"

NEPTUNE_SERVICE_MODULE(search::chaos::NemesisModule)
