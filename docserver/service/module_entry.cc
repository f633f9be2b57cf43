#include "docserver/service/document_module.h"

NEPTUNE_SERVICE_MODULE(search::docserver::DocumentModule)
