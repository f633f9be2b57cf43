#include "neptune/world/real/real_world.h"
#include "neptune/world/real/rocksdb_storage.h"

namespace neptune {

std::unique_ptr<World> MakeRealWorld(const RealWorldOptions& options) {
  if (options.storage_directory.empty()) return MakeRealWorldOver(options, nullptr);
  return MakeRealWorldOver(options, MakeRocksDbStorage(options.storage_directory));
}

}  // namespace neptune
