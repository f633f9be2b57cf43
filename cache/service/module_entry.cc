#include "cache/service/cache_module.h"

NEPTUNE_SERVICE_MODULE(search::cache::CacheModule)
