// The discussion group on its own cluster spec: threads in order, sessions that see what they
// wrote, refusals.

#include <gtest/gtest.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/examples/discussion/discussion.pb.h"
#include "neptune/examples/discussion/discussion_module.h"
#include "neptune/examples/discussion/discussion_store.h"
#include "neptune/examples/testing/example_cluster.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/message_stream_state.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("discussion");
constexpr uint64_t kGroupCount = 1000;
constexpr uint32_t kPartitionCount = 4;

ExampleClusterOptions Cluster() {
  ExampleClusterOptions options;
  options.spec_file = "neptune/examples/discussion/cluster.textproto";
  options.modules = [](const std::string&) { return std::make_unique<DiscussionModule>(); };
  return options;
}

PartitionId PartitionOf(uint64_t group) {
  return PartitionId(static_cast<uint32_t>(group % kPartitionCount));
}

template <typename Answer, typename Request>
StatusOr<Answer> Ask(ReplicaSession& session, const char* method, AccessMode access,
                     const Request& request) {
  Data response;
  NEPTUNE_RETURN_IF_ERROR(
      session.Call({kService, PartitionOf(request.group_id()), MethodName(method), access},
                   Data::Of(request), &response));
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const answer, response.As<Answer>());
  return *answer;
}

AddMsgRequest MessageFor(uint64_t group, uint64_t reply_to, const std::string& subject) {
  AddMsgRequest request;
  request.set_group_id(group);
  request.set_reply_to(reply_to);
  request.set_author("eve");
  request.set_subject(subject);
  request.set_text(StrCat("text of ", subject));
  return request;
}

StatusOr<AddMsgResult> Add(ReplicaSession& session, const AddMsgRequest& request) {
  return Ask<AddMsgResult>(session, kAddMsgMethod, AccessMode::kWrite, request);
}

StatusCode Refusal(ReplicaSession& session, const AddMsgRequest& request) {
  return Add(session, request).status().code();
}

StatusOr<MessageHeaders> Headers(ReplicaSession& session, uint64_t group, uint64_t after = 0,
                                 uint32_t count_max = 0) {
  ViewHeadersRequest request;
  request.set_group_id(group);
  request.set_after_id(after);
  request.set_count_max(count_max);
  return Ask<MessageHeaders>(session, kViewHeadersMethod, AccessMode::kRead, request);
}

StatusOr<DiscussionMessage> View(ReplicaSession& session, uint64_t group, uint64_t message) {
  ViewMsgRequest request;
  request.set_group_id(group);
  request.set_message_id(message);
  return Ask<DiscussionMessage>(session, kViewMsgMethod, AccessMode::kRead, request);
}

class DiscussionTest : public testing::Test {
 protected:
  DiscussionTest() : cluster_(Cluster()) { cluster_.simulator().RunFor(seconds(2)); }
  void InSession(const std::function<void(ReplicaSession&)>& body) {
    cluster_.RunOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      body(replicas);
    });
  }
  SimulatedExample cluster_;
};

TEST_F(DiscussionTest, ShowsRepliesBelowTheirParents) {
  InSession([](ReplicaSession& session) {
    // a (1) ── b (3) ── d (5)     c (2) ── e (6)     a ── f (4)
    const std::pair<uint64_t, const char*> messages[] = {{0, "a"}, {0, "c"}, {1, "b"},
                                                         {1, "f"}, {3, "d"}, {2, "e"}};
    uint64_t id = 0;
    for (const auto& [reply_to, subject] : messages) {
      const auto added = Add(session, MessageFor(5, reply_to, subject));
      ASSERT_TRUE(added.ok()) << added.status();
      EXPECT_EQ(added->message_id(), ++id);
    }
    const auto headers = Headers(session, 5);
    ASSERT_TRUE(headers.ok()) << headers.status();
    std::string shown;
    for (const MessageHeader& header : headers->headers()) {
      StrAppend(&shown, header.subject(), header.depth());
    }
    EXPECT_EQ(shown, "a0b1d2f1c0e1");
    EXPECT_EQ(headers->message_count(), 6u);
    EXPECT_FALSE(headers->has_more());
    const auto message = View(session, 5, 5);
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_EQ(message->text(), "text of d");
    EXPECT_EQ(message->header().reply_to(), 3u);
    EXPECT_EQ(message->header().SerializeAsString(), headers->headers(2).SerializeAsString());
    EXPECT_EQ(Headers(session, 9)->message_count(), 0u) << "a different group of the partition";
  });
}

// Compares with a simple implementation: a tree, walked depth first.
TEST_F(DiscussionTest, PagesOfAnySizeGiveTheWholeTree) {
  InSession([](ReplicaSession& session) {
    RandomSource random(1);
    std::map<uint64_t, std::vector<uint64_t>> replies;
    for (uint64_t id = 1; id <= 60; ++id) {
      const uint64_t reply_to = random.Below(id);
      replies[reply_to].push_back(id);
      ASSERT_TRUE(Add(session, MessageFor(7, reply_to, "s")).ok());
    }
    std::vector<uint64_t> expected;
    const std::function<void(uint64_t)> walk = [&](uint64_t of) {
      for (const uint64_t id : replies[of]) {
        expected.push_back(id);
        walk(id);
      }
    };
    walk(0);
    for (const uint32_t size : {1u, 7u, 20u, 60u, 61u}) {
      std::vector<uint64_t> shown;
      bool has_more = true;
      while (has_more) {
        const auto page = Headers(session, 7, shown.empty() ? 0 : shown.back(), size);
        ASSERT_TRUE(page.ok()) << page.status();
        ASSERT_LE(page->headers_size(), static_cast<int>(size));
        for (const MessageHeader& header : page->headers()) shown.push_back(header.id());
        has_more = page->has_more();
      }
      EXPECT_EQ(shown, expected) << size;
    }
  });
}

TEST_F(DiscussionTest, RefusesInvalidMessages) {
  InSession([](ReplicaSession& session) {
    AddMsgRequest request = MessageFor(1, 0, "s");
    request.set_text(std::string(kMessageSizeMax + 1, 'x'));
    EXPECT_EQ(Refusal(session, request), StatusCode::kInvalidArgument);
    request.set_text("");
    EXPECT_EQ(Refusal(session, request), StatusCode::kInvalidArgument);
    request = MessageFor(1, 0, std::string(kSubjectSizeMax + 1, 'x'));
    EXPECT_EQ(Refusal(session, request), StatusCode::kInvalidArgument);
    request = MessageFor(1, 0, "s");
    request.set_author(std::string(kAuthorSizeMax + 1, 'x'));
    EXPECT_EQ(Refusal(session, request), StatusCode::kInvalidArgument);
    for (const uint64_t nothing : {uint64_t{1}, kMessageCountMax + 1, UINT64_MAX}) {
      EXPECT_EQ(Refusal(session, MessageFor(1, nothing, "s")), StatusCode::kFailedPrecondition);
    }
    EXPECT_EQ(Refusal(session, MessageFor(kGroupCount, 0, "s")), StatusCode::kNotFound);
    Data response;
    EXPECT_EQ(session
                  .Call({kService, PartitionId(0), MethodName(kAddMsgMethod), AccessMode::kWrite},
                        Data("\xff no message"), &response)
                  .code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(Headers(session, 1)->message_count(), 0u);
  });
}

TEST_F(DiscussionTest, RefusesToShowMissingMessages) {
  InSession([](ReplicaSession& session) {
    ASSERT_TRUE(Add(session, MessageFor(1, 0, "s")).ok());
    EXPECT_EQ(View(session, 1, 2).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(View(session, 1, 0).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(View(session, 1, (uint64_t{1} << 32) + 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(View(session, kGroupCount, 1).status().code(), StatusCode::kNotFound);
    EXPECT_EQ(Headers(session, 1, 2).status().code(), StatusCode::kNotFound);
    ViewMsgRequest request;
    request.set_group_id(2);
    Data response;
    EXPECT_EQ(session
                  .Call({kService, PartitionId(1), MethodName(kViewMsgMethod), AccessMode::kRead},
                        Data::Of(request), &response)
                  .code(),
              StatusCode::kInvalidArgument)
        << "group 2 is in partition 2";
  });
}

TEST_F(DiscussionTest, RepliesGoToALimitedDepth) {
  InSession([](ReplicaSession& session) {
    for (uint64_t reply_to = 0; reply_to <= kReplyDepthMax; ++reply_to) {
      ASSERT_TRUE(Add(session, MessageFor(3, reply_to, "s")).ok()) << reply_to;
    }
    EXPECT_EQ(View(session, 3, kReplyDepthMax + 1)->header().depth(), kReplyDepthMax);
    EXPECT_EQ(Refusal(session, MessageFor(3, kReplyDepthMax + 1, "s")),
              StatusCode::kResourceExhausted);
  });
}

TEST_F(DiscussionTest, AddedRecordsSurviveAnyNode) {
  for (const char* const node : {"discussion-1", "discussion-2", "discussion-3"}) {
    InSession([&](ReplicaSession& session) {
      for (uint64_t group = 0; group < kPartitionCount; ++group) {
        const auto added = Add(session, MessageFor(group, 0, node));
        ASSERT_TRUE(added.ok()) << added.status();
      }
    });
    cluster_.simulator().Crash(node);
    cluster_.simulator().RunFor(seconds(1));
    InSession([&](ReplicaSession& session) {
      for (uint64_t group = 0; group < kPartitionCount; ++group) {
        const auto headers = Headers(session, group);
        ASSERT_TRUE(headers.ok()) << headers.status();
        ASSERT_GT(headers->headers_size(), 0);
        EXPECT_EQ(headers->headers(headers->headers_size() - 1).subject(), node);
      }
    });
    cluster_.simulator().Restart(node);
    cluster_.simulator().RunFor(seconds(4));
  }
}

}  // namespace
}  // namespace neptune::examples
