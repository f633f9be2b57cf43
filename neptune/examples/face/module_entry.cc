#include "neptune/examples/face/face_module.h"

NEPTUNE_SERVICE_MODULE(neptune::examples::FaceModule)
