#include "neptune/examples/auction/auction_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::AuctionModule)
