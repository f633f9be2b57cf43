#include "neptune/examples/photo_album/photo_album_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::photo_album::PhotoAlbumModule)
