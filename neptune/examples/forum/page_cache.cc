#include "neptune/examples/forum/page_cache.h"

#include "neptune/examples/forum/service_page_cache.h"

namespace neptune::examples {

StatusOr<std::unique_ptr<PageCache>> MakePageCache(const ModuleContext& context) {
  const auto chosen = context.parameters.find("page_cache");
  if (chosen == context.parameters.end() || chosen->second == "service") {
    return MakeServicePageCache(context);
  }
  return InvalidArgument("unknown page cache '", chosen->second, "'");
}

}  // namespace neptune::examples
