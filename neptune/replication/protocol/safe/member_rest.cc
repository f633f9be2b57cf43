#include "neptune/replication/protocol/safe/member_rest.h"

namespace neptune {
namespace {

// Heartbeats of a resting primary that may be lost.
constexpr int kSilentHeartbeats = 2;

}  // namespace

void MemberRest::NotePeer(const PeerNews& news, std::optional<MemberIndex> primary, TimePoint now) {
  const bool is_heard = news.kind != PeerNews::Kind::kSilent;
  live_ = is_heard ? live_.With(news.member) : live_.Without(news.member);
  if (!election_.rests() || primary != news.member) return;
  switch (news.kind) {
    case PeerNews::Kind::kHeard:
      return election_.Trust();
    case PeerNews::Kind::kSilent:
      return election_.Doubt(news.heard_at, now);
    case PeerNews::Kind::kEnded:
      return election_.Await(now);
  }
}

bool MemberRest::IsAgreed(MemberIndex primary, TimePoint now) const {
  const bool has_readers =
      read_wanted_at_ != TimePoint::min() && now - read_wanted_at_ < options_.rest_after;
  return election_.participates() && live_.contains(primary) && !has_readers;
}

void MemberRest::Begin(const ReplicaMessage& offer, TimePoint now) {
  offer_stamp_ = offer.primary_stamp;
  offer_epoch_ = offer.epoch;
  election_.Rest(now + kSilentHeartbeats * options_.rest_interval + options_.election_timeout);
}

std::optional<TimePoint> MemberRest::EndIfLate(const ReplicaMessage& append) const {
  const bool is_late = election_.rests() && append.epoch == offer_epoch_ &&
                       append.epoch == election_.epoch() && append.primary_stamp < offer_stamp_;
  return is_late ? election_.rest_until() : std::nullopt;
}

}  // namespace neptune
