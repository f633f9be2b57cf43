#include "neptune/examples/forum/page_cache_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::PageCacheModule)
