#include "neptune/examples/auction/auction_store_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::AuctionStoreModule)
