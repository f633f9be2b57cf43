#include "neptune/base/leaf_mutex.h"

namespace neptune {

thread_local int LeafMutex::held_count_ = 0;

}  // namespace neptune
