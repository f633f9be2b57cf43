#include "neptune/examples/forum/forum_database_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::ForumDatabaseModule)
