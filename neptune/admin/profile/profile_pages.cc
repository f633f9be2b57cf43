#include "neptune/admin/profile/profile_pages.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "neptune/admin/profile/allocation_sampler.h"
#include "neptune/admin/profile/processor_sampler.h"
#include "neptune/admin/profile/profile_text.h"
#include "neptune/base/strings.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/problem.h"

// A function of jemalloc; null in programs without it.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, size_t* old_size,
                                     void* new_value, size_t new_size);

namespace neptune {
namespace {

constexpr int kProfileSeconds = 10;
// Interval of checks whether the client has gone.
constexpr Duration kLookEvery = std::chrono::milliseconds(200);

struct ProfileOrder {
  std::chrono::seconds length{kProfileSeconds};
  bool folded = false;
};

StatusOr<ProfileOrder> ParseOrder(const HttpRequest& request) {
  ProfileOrder order;
  if (const auto text = request.Parameter("seconds")) {
    int seconds = 0;
    if (!absl::SimpleAtoi(ToAbsl(*text), &seconds) || seconds < 1 || seconds > kProfileSecondsMax) {
      return InvalidArgument("seconds must be 1 to ", kProfileSecondsMax);
    }
    order.length = std::chrono::seconds(seconds);
  }
  const std::string_view format = request.Parameter("format").value_or("pprof");
  if (format != "pprof" && format != "folded") {
    return InvalidArgument("format must be pprof or folded, not ", format);
  }
  order.folded = format == "folded";
  return order;
}

// Returns false if the wait was cut short.
bool WaitFor(Duration length, const HttpRequest& request) {
  const TimePoint end = this_thread::Now() + length;
  while (this_thread::Now() < end) {
    if (request.ClientGone()) return false;
    const TimePoint next = std::min(end, this_thread::Now() + kLookEvery);
    if (this_thread::SleepUntil(next) == ParkResult::kStopping) return false;
  }
  return true;
}

HttpResponse FileResponse(std::string body, const char* type, const std::string& name) {
  HttpResponse response{.status = 200, .headers = {}, .body = std::move(body)};
  response.headers.Add("Content-Type", type);
  response.headers.Add("Content-Disposition", StrCat("attachment; filename=\"", name, "\""));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

struct HeapSizes {
  const char* allocator;
  size_t in_use;
  size_t free;  // held for later allocations
  size_t from_system;
};

HeapSizes SizesOfHeap() {
  if (mallctl == nullptr) {
    const struct mallinfo2 heap = mallinfo2();
    return {"glibc", heap.uordblks + heap.hblkhd, heap.fordblks, heap.arena + heap.hblkhd};
  }
  uint64_t epoch = 1;  // asks for new figures
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  const auto figure = [](const char* name) {
    size_t value = 0;
    size_t size = sizeof(value);
    return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
  };
  const size_t in_use = figure("stats.allocated");
  const size_t from_system = figure("stats.resident");
  return {"jemalloc", in_use, from_system - std::min(in_use, from_system), from_system};
}

}  // namespace

ProfilePages::ProfilePages(World& world, std::string node)
    : world_(world), node_(std::move(node)), helper_(world.MakeHelperThreads("profile", 1)) {}

ProfilePages::~ProfilePages() = default;

void ProfilePages::AddTo(AdminServer& admin) {
  admin.AddPage(
      "/profile/cpu", "CPU profile; ?seconds=1 to 30, ?format=pprof or folded",
      [this](const HttpRequest& request) { return Take<ProcessorSampler>(request, "cpu"); },
      AdminNeed::kProfile);
  admin.AddPage(
      "/profile/heap", "allocation profile: allocated and held memory; parameters as /profile/cpu",
      [this](const HttpRequest& request) { return Take<AllocationSampler>(request, "heap"); },
      AdminNeed::kProfile);
  admin.AddPage(
      "/profile/heap/totals", "totals of the C library's allocator",
      [this](const HttpRequest&) { return HeapTotals(); }, AdminNeed::kProfile);
}

template <typename Sampler>
HttpResponse ProfilePages::Take(const HttpRequest& request, const std::string& kind) {
  const StatusOr<ProfileOrder> order = ParseOrder(request);
  if (!order.ok()) return ProblemResponse(order.status());
  const ProfileHeader header = {
      .began = world_.wall_time(), .length = order->length, .node = node_};
  auto sampler = Sampler::Start();
  if (!sampler.ok()) return ProblemResponse(sampler.status());
  if (!WaitFor(order->length, request)) {
    return ProblemResponse(Unavailable("the profile was interrupted"));
  }
  std::string body;
  OneShotEvent made;
  helper_->Run([&] {
    const auto samples = (*sampler)->Stop();
    FunctionNames names;
    const auto name = [&](uintptr_t address) { return names.Of(address); };
    body = order->folded ? FoldedStacks(samples, name) : PprofProfile(samples, header, name);
    made.Set();
  });
  while (!made.is_set()) this_thread::ParkUntilWoken();
  if (order->folded) {
    return FileResponse(std::move(body), "text/plain; charset=utf-8", kind + ".folded");
  }
  return FileResponse(std::move(body), "application/octet-stream", kind + ".pb.gz");
}

// Briefly takes the lock of each of the allocator's arenas.
HttpResponse ProfilePages::HeapTotals() const {
  const HeapSizes heap = SizesOfHeap();
  HttpResponse response = HttpResponse::Json(
      200, StrCat("{\"allocator\":\"", heap.allocator, "\",\"in_use_bytes\":", heap.in_use,
                  ",\"free_bytes\":", heap.free, ",\"from_system_bytes\":", heap.from_system, "}"));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

}  // namespace neptune
