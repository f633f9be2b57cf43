#include "neptune/examples/photo_album/image_store_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::photo_album::ImageStoreModule)
