#include "neptune/examples/guestbook/mariadb_guestbook.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::MariadbGuestbook)
