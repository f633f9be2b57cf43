#include "neptune/examples/discussion/discussion_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::DiscussionModule)
