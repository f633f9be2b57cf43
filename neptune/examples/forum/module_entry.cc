#include "neptune/examples/forum/forum_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::ForumModule)
