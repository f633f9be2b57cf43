// The entry point of frontend.so.

#include "frontend/http/frontend_module.h"

NEPTUNE_SERVICE_MODULE(search::frontend::FrontendModule)
