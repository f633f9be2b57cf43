#include "neptune/examples/auction/auction_house_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::auction_house::AuctionHouseModule)
