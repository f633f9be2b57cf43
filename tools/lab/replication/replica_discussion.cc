#include "tools/lab/replication/replica_discussion.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/examples/discussion/discussion.pb.h"
#include "neptune/examples/discussion/discussion_module.h"
#include "neptune/examples/discussion/discussion_store.h"
#include "tools/lab/replication/posts_module.h"

namespace search::lab {

using neptune::AccessMode;
using neptune::Data;
using neptune::PartitionId;
using neptune::RandomSource;
using neptune::Status;
using neptune::StrCat;
using neptune::examples::AddMsgRequest;
using neptune::examples::AddMsgResult;
using neptune::examples::MessageHeader;
using neptune::examples::MessageHeaders;
using neptune::examples::ViewHeadersRequest;
using neptune::examples::ViewMsgRequest;

namespace {

constexpr uint64_t kGroupsAServer = 400;
constexpr uint32_t kShownHeaderCount = 20;

PartitionId PartitionOf(uint64_t group) {
  return PartitionId(static_cast<uint32_t>(group % kReplicaPartitionCount));
}

std::string Micros(double ms) { return StrCat(std::llround(1e3 * ms)); }

template <typename Request>
ReplicaCall CallOf(const char* method, AccessMode access, const Request& request) {
  return {.partition = PartitionOf(request.group_id()),
          .method = neptune::MethodName(method),
          .access = access,
          .request = request.SerializeAsString(),
          .on_answer = nullptr};
}

}  // namespace

ReplicaClusterOptions DiscussionCluster(int server_count, int degree, const std::string& level) {
  ReplicaClusterOptions options;
  options.server_count = server_count;
  options.degree = degree;
  options.level = level;
  options.parameters = {{"read_work_us", Micros(kReadWorkMs)},
                        {"write_work_us", Micros(kWriteWorkMs)}};
  if (level == "write_anywhere") {
    options.module = [] { return std::make_unique<PostsModule>(); };
    return options;
  }
  options.parameters["partition_count"] = StrCat(kReplicaPartitionCount);
  options.parameters["group_count"] = StrCat(kGroupsAServer * static_cast<uint64_t>(server_count));
  options.module = [] { return std::make_unique<neptune::examples::DiscussionModule>(); };
  return options;
}

double DiscussionIdealRate(const DiscussionLoad& load, int degree) {
  const double cost_ms =
      (1 - load.write_share) * kReadWorkMs + load.write_share * kWriteWorkMs * degree;
  double servers = load.server_count;
  if (!load.partition_shares.empty()) {
    const double most =
        *std::max_element(load.partition_shares.begin(), load.partition_shares.end());
    servers = std::min(servers, degree / most);
  }
  return 1e3 * servers / cost_ms;
}

DiscussionUsers::DiscussionUsers(DiscussionLoad load)
    : load_(std::move(load)),
      group_count_(kGroupsAServer * static_cast<uint64_t>(load_.server_count)),
      cumulative_shares_(load_.partition_shares.size()) {
  std::partial_sum(load_.partition_shares.begin(), load_.partition_shares.end(),
                   cumulative_shares_.begin());
}

uint64_t DiscussionUsers::DrawGroup(RandomSource& random) const {
  if (cumulative_shares_.empty()) return random.Below(group_count_);
  const auto found = std::lower_bound(cumulative_shares_.begin(), cumulative_shares_.end(),
                                      random.Uniform() * cumulative_shares_.back());
  const auto partition = static_cast<uint64_t>(found - cumulative_shares_.begin());
  return partition + kReplicaPartitionCount * random.Below(group_count_ / kReplicaPartitionCount);
}

ReplicaCall DiscussionUsers::Next(RandomSource& random) {
  const uint64_t group = DrawGroup(random);
  if (random.Uniform() < load_.write_share) return Add(group, random);
  return random.Below(2) == 0 ? View(group, random) : ViewHeaders(group, random);
}

ReplicaCall DiscussionUsers::Add(uint64_t group, RandomSource& random) {
  const std::vector<uint64_t>& known = messages_[group];
  const uint64_t drawn = known.empty() ? 0 : random.Below(known.size() + 1);
  AddMsgRequest request;
  request.set_group_id(group);
  request.set_reply_to(drawn == 0 ? 0 : known[drawn - 1]);
  request.set_author("user");
  request.set_subject(StrCat("message ", ++written_));
  request.set_text(std::string(200, 't'));
  request.set_work_seed(random.Next());
  ReplicaCall call = CallOf(neptune::examples::kAddMsgMethod, AccessMode::kWrite, request);
  call.on_answer = [this, group, subject = request.subject()](const Status& status,
                                                              const Data& answer) {
    if (!status.ok()) return;
    const auto result = answer.As<AddMsgResult>();
    CHECK(result.ok()) << result.status();
    added_[{group, (*result)->message_id()}] = subject;
    messages_[group].push_back((*result)->message_id());
  };
  return call;
}

ReplicaCall DiscussionUsers::View(uint64_t group, RandomSource& random) const {
  const auto known = messages_.find(group);
  if (known == messages_.end() || known->second.empty()) return ViewHeaders(group, random);
  ViewMsgRequest request;
  request.set_group_id(group);
  request.set_message_id(known->second[random.Below(known->second.size())]);
  request.set_work_seed(random.Next());
  return CallOf(neptune::examples::kViewMsgMethod, AccessMode::kRead, request);
}

ReplicaCall DiscussionUsers::ViewHeaders(uint64_t group, RandomSource& random) const {
  ViewHeadersRequest request;
  request.set_group_id(group);
  request.set_count_max(kShownHeaderCount);
  request.set_work_seed(random.Next());
  return CallOf(neptune::examples::kViewHeadersMethod, AccessMode::kRead, request);
}

ReplicaRunResult RunDiscussion(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                               ReplicaLoadOptions load) {
  DiscussionUsers own(users);
  load.next = [&own](ReplicaUser&, RandomSource& random) { return own.Next(random); };
  ReplicaCluster fresh(cluster);
  return RunReplicas(fresh, load, cluster.seed);
}

double HighestDiscussionRate(const ReplicaClusterOptions& cluster, const DiscussionLoad& users,
                             const ReplicaLoadOptions& load, int steps) {
  const double ideal = DiscussionIdealRate(users, cluster.degree);
  const auto run = [&](double rate_per_s, double failed_share_max) {
    ReplicaLoadOptions at_rate = load;
    at_rate.rate_per_s = rate_per_s;
    at_rate.failed_share_max = failed_share_max;
    return RunDiscussion(cluster, users, at_rate);
  };
  return HighestReplicaRate(run, {.low = 0.9 * ideal, .high = 1.06 * ideal, .steps = steps});
}

namespace {

// All headers of a group at the primary.
std::vector<MessageHeader> HeadersOf(neptune::ReplicaSession& session, uint64_t group) {
  std::vector<MessageHeader> headers;
  ViewHeadersRequest request;
  request.set_group_id(group);
  request.set_count_max(neptune::examples::kHeaderCountMax);
  while (true) {
    Data answer;
    const Status status = session.Call(
        {kReplicaService, PartitionOf(group),
         neptune::MethodName(neptune::examples::kViewHeadersMethod), AccessMode::kRead},
        Data(request.SerializeAsString()), &answer, {.staleness_max = neptune::Duration(0)});
    CHECK(status.ok()) << status;
    const auto page = answer.As<MessageHeaders>();
    CHECK(page.ok()) << page.status();
    headers.insert(headers.end(), (*page)->headers().begin(), (*page)->headers().end());
    if (!(*page)->has_more()) return headers;
    request.set_after_id(headers.back().id());
  }
}

}  // namespace

DiscussionDamage CheckDiscussion(ReplicaCluster& cluster, const DiscussionUsers& users) {
  DiscussionDamage damage;
  cluster.RunOnClient([&](neptune::ReplicaSession& session) {
    DiscussionUsers::Added there;
    std::set<std::string> subjects;
    for (uint64_t group = 0; group < users.group_count(); ++group) {
      for (const MessageHeader& header : HeadersOf(session, group)) {
        there[{group, header.id()}] = header.subject();
        damage.doubled_count += subjects.insert(header.subject()).second ? 0 : 1;
      }
    }
    for (const auto& [where, subject] : users.added()) {
      const auto found = there.find(where);
      damage.lost_count += found == there.end() || found->second != subject ? 1 : 0;
    }
  });
  return damage;
}

}  // namespace search::lab
