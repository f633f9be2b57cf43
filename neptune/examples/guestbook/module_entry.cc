#include "neptune/examples/guestbook/guestbook_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::GuestbookModule)
