#include "tools/lab/balancing/queue_reference.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <queue>
#include <utility>

namespace search::lab {
namespace {

struct Event {
  double at;
  uint64_t number;
  std::function<void()> run;
  bool operator<(const Event& other) const {
    return at != other.at ? at > other.at : number > other.number;
  }
};

class Queues {
 public:
  Queues(const QueueReferenceOptions& options, uint64_t seed)
      : options_(options),
        random_(seed),
        servers_(static_cast<size_t>(options.server_count)),
        on_their_way_(servers_.size()) {}

  QueueReferenceResult Run() {
    Arrive();
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      event.run();
    }
    return {sum_ / static_cast<double>(served_),
            static_cast<double>(refused_) / static_cast<double>(refused_ + served_)};
  }

 private:
  struct Request {
    double arrived;
    double cost;
    bool measured;
  };
  struct Server {
    bool busy = false;
    std::deque<Request> waiting;
    size_t load() const { return waiting.size() + (busy ? 1 : 0); }
  };
  struct Poll {
    Request request;
    size_t outstanding;
    size_t best = 0;
    size_t best_load = SIZE_MAX;
    bool done = false;
  };

  void After(double delay, std::function<void()> run) {
    events_.push({now_ + delay, next_++, std::move(run)});
  }

  void Arrive() {
    const uint64_t total = options_.warm_up_count + options_.count;
    if (arrived_ == total) return;
    const double gap = options_.gap.Sample(random_);
    After(gap, [this] {
      const Request request{now_, options_.service.Sample(random_),
                            arrived_ >= options_.warm_up_count};
      ++arrived_;
      Route(request);
      Arrive();
    });
  }

  void Route(const Request& request) {
    if (options_.poll_size == 0) return Send(random_.Below(servers_.size()), request);
    if (options_.poll_size < 0) return Send(ShortestQueue(), request);
    StartPoll(request);
  }

  size_t ShortestQueue() {
    size_t best = random_.Below(servers_.size());
    for (size_t i = 0; i < servers_.size(); ++i) {
      if (on_their_way_[i] < on_their_way_[best]) best = i;
    }
    return best;
  }

  void StartPoll(const Request& request) {
    std::vector<size_t> order(servers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    order.resize(static_cast<size_t>(options_.poll_size));
    auto poll = std::make_shared<Poll>(Poll{request, order.size()});
    poll->best = order[0];
    for (const size_t server : order) {
      double late = 0;
      if (servers_[server].load() > 0 && random_.Uniform() < options_.slow_share) {
        late = random_.Exponential(options_.slow_mean);
      }
      After(options_.poll_delay + late, [this, poll, server] {
        const size_t load = servers_[server].load();
        After(options_.poll_delay, [this, poll, server, load] { Answer(*poll, server, load); });
      });
    }
    if (options_.discard_after > 0) After(options_.discard_after, [this, poll] { Decide(*poll); });
  }

  void Answer(Poll& poll, size_t server, size_t load) {
    if (load < poll.best_load) {
      poll.best = server;
      poll.best_load = load;
    }
    // No server is better than an idle one.
    if (--poll.outstanding == 0 || (load == 0 && options_.stop_at_idle)) Decide(poll);
  }

  void Decide(Poll& poll) {
    if (std::exchange(poll.done, true)) return;
    Send(poll.best, poll.request);
  }

  void Send(size_t to, const Request& request) {
    ++on_their_way_[to];
    After(options_.call_delay, [this, to, request] {
      Server& server = servers_[to];
      if (!server.busy) return Serve(to, request);
      if (server.waiting.size() < static_cast<size_t>(options_.queue_length_max)) {
        server.waiting.push_back(request);
        return;
      }
      --on_their_way_[to];
      if (request.measured) ++refused_;
    });
  }

  void Serve(size_t at, const Request& request) {
    servers_[at].busy = true;
    After(request.cost, [this, at, request] {
      Server& server = servers_[at];
      server.busy = false;
      After(options_.call_delay, [this, at, request] {
        --on_their_way_[at];
        if (!request.measured) return;
        ++served_;
        sum_ += now_ - request.arrived;
      });
      if (server.waiting.empty()) return;
      const Request next = server.waiting.front();
      server.waiting.pop_front();
      Serve(at, next);
    });
  }

  const QueueReferenceOptions options_;
  neptune::RandomSource random_;
  std::vector<Server> servers_;
  std::vector<int> on_their_way_;
  std::priority_queue<Event> events_;
  double now_ = 0;
  uint64_t next_ = 0;
  uint64_t arrived_ = 0;
  uint64_t served_ = 0;
  uint64_t refused_ = 0;
  double sum_ = 0;
};

}  // namespace

QueueReferenceResult SimulateQueues(const QueueReferenceOptions& options, uint64_t seed) {
  return Queues(options, seed).Run();
}

}  // namespace search::lab
