#include "cache/persistent/persistent_cache_module.h"

NEPTUNE_SERVICE_MODULE(search::cache::PersistentCacheModule)
