#include "neptune/examples/guestbook/redis_guestbook.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::RedisGuestbook)
