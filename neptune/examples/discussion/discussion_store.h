// The messages of discussion groups in a partition's store, in display order.
//
//   g GROUP          StoredGroup
//   h GROUP PATH     MessageHeader; PATH: the numbers of the messages it replies to, from the
//                    thread's first, and its own
//   m GROUP NUMBER   StoredMessage, with the path
//
// A path has the path of the message replied to as prefix, so key order is the depth-first order of
// the hierarchy, and headers are read with one scan from any position. GROUP has 8 bytes, each
// NUMBER 4, big-endian.
//
// Source: [Shen02] 5.3 (discussion group; "hierarchical format according to the reply-to
//   relationships").
// Departs from source: an ordered key-value store instead of MySQL.
// Threads: pure functions of the store.
// Errors: kNotFound no such message; kInvalidArgument a message exceeds a limit;
//   kFailedPrecondition a reply to a message that does not exist; kResourceExhausted
//   kMessageCountMax, kReplyDepthMax; kDataLoss a stored record is damaged; those of the store.
// Limits: the constants below.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/examples/discussion/discussion.pb.h"
#include "neptune/replication/state/store_state.h"

namespace neptune::examples {

inline constexpr uint64_t kMessageCountMax = 1'000'000;  // in a group
inline constexpr uint32_t kReplyDepthMax = 100;
inline constexpr size_t kAuthorSizeMax = 100;
inline constexpr size_t kSubjectSizeMax = 200;
inline constexpr size_t kMessageSizeMax = 10'000;
inline constexpr uint32_t kHeaderCountDefault = 50;
inline constexpr uint32_t kHeaderCountMax = 1'000;  // in one answer

StatusOr<MessageHeaders> ReadHeaders(const StoreView& store, const ViewHeadersRequest& request);
StatusOr<DiscussionMessage> ReadMessage(const StoreView& store, const ViewMsgRequest& request);
// The write of method AddMsg.
StatusOr<AddMsgResult> AddMessage(const WriteContext& write, const AddMsgRequest& request);

}  // namespace neptune::examples
