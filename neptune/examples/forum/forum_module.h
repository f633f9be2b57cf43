// The forum's web server: a topic's page comes from the cache, or else is rendered from the
// database.
//
//   View   ViewTopicRequest → ForumPage
//   Post   AddPostRequest → AddPostResult; a write
//
//   View ──► page cache: found? ── yes ──► the page
//               │ no, or no answer within kCacheTimeLimit
//               └──► database ──► page, stored in the cache unless the cache failed
//
// Both methods are plain blocking functions.
//
// Source: [Chu05] VI.A (BBS), figure 5 (B).
// Threads: see ServiceModule.
// Errors: those of the database; those of a call. A failing cache is not an error.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "neptune/examples/forum/page_cache.h"
#include "neptune/examples/forum/service_page_cache.h"
#include "neptune/examples/modelled_work/modelled_work.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

inline constexpr char kViewMethod[] = "View";
inline constexpr char kPostMethod[] = "Post";

// Source: VI.A (BBS uses 0.5 second as the timeout for its cache server).
inline constexpr Duration kCacheTimeLimit = std::chrono::milliseconds(500);

class ForumModule final : public ServiceModule {
 public:
  explicit ForumModule(std::unique_ptr<PageCache> cache = MakeServicePageCache())
      : cache_(std::move(cache)) {}

  void DeclareParameters(ParameterTable& table) override;
  Status Start(ModuleContext& context) override;
  std::string implementation() const override { return "forum"; }

 private:
  Status View(RequestContext& context, const Data& request, Data* response);
  Status Post(RequestContext& context, const Data& request, Data* response);

  const std::unique_ptr<PageCache> cache_;
  Client* client_ = nullptr;  // set by Start
  ModelledWork work_;
};

}  // namespace neptune::examples
