#include "index/tier/service/tier_module.h"

NEPTUNE_SERVICE_MODULE(search::index::TierModule)
