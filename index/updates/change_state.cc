#include "index/updates/change_state.h"

#include <xxhash.h>

#include <algorithm>

#include "index/updates/document_change.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

constexpr std::string_view kStatisticsInUseKey = "u";
constexpr std::string_view kLastWriteKey = "w";
constexpr std::string_view kChangeCountKey = "c";
constexpr std::string_view kForgottenKey = "f";
// Number of removals that each write may forget, in addition to twice the number of its documents:
// a write forgets more than it can add.
constexpr size_t kForgottenOfWriteMin = 16;
// Maximal number of urls with the same hash that are examined.
constexpr size_t kUrlCandidatesMax = 100;

void AppendBigEndian(uint64_t number, int size, std::string* key) {
  for (int i = size - 1; i >= 0; --i) key->push_back(static_cast<char>(number >> (8 * i)));
}

uint64_t FromBigEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

std::string DocumentKey(uint64_t doc_id) {
  std::string key = "d";
  AppendBigEndian(doc_id, 8, &key);
  return key;
}

std::string UrlKeys(std::string_view url) {
  std::string key = "l";
  AppendBigEndian(HashOfUrl(url), 8, &key);
  return key;
}

// Empty: the document is found by its doc_id.
std::string UrlKey(uint64_t doc_id, const DocumentContent& content) {
  if (DocIdOfUrl(content.url()) == doc_id) return {};
  std::string key = UrlKeys(content.url());
  AppendBigEndian(doc_id, 8, &key);
  return key;
}

std::string RemovalKey(uint64_t version, uint64_t doc_id) {
  std::string key = "r";
  AppendBigEndian(version, 8, &key);
  AppendBigEndian(doc_id, 8, &key);
  return key;
}

// Empty if it is not a removal, or one that is kept forever.
std::string RemovalKeyOf(const DocumentChange& change) {
  if (!change.has_removal() || change.doc_id() < kFirstHashedDocId) return {};
  return RemovalKey(change.version(), change.doc_id());
}

std::string PieceKey(uint64_t version, uint32_t index) {
  std::string key = "s";
  AppendBigEndian(version, 8, &key);
  AppendBigEndian(index, 4, &key);
  return key;
}

template <typename Message>
neptune::Status Parse(std::string_view key, std::string_view value, Message* message) {
  if (message->ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return neptune::OkStatus();
  }
  return neptune::DataLoss("change state: the value of key '", key.substr(0, 1), "' is damaged");
}

// 0 if there is none.
neptune::StatusOr<uint64_t> GetNumber(const ChangeReader& state, std::string_view key) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(key));
  if (!value.has_value()) return 0;
  if (value->size() != 8) {
    return neptune::DataLoss("change state: the value of key '", key, "' is damaged");
  }
  return FromBigEndian(*value);
}

void PutNumber(std::string_view key, uint64_t number, ChangeWriter* changes) {
  std::string bytes;
  AppendBigEndian(number, 8, &bytes);
  changes->Put(key, bytes);
}

enum class DocumentOutcome { kOutdated, kLate, kKept, kChanged };

// True if the change may alter what is searchable; `known` is the previous change.
bool MayChange(const DocumentChange& change, const std::optional<DocumentChange>& known) {
  if (known.has_value() && known->version() == change.version()) return false;  // a repetition
  if (change.has_upsert() || (known.has_value() && known->has_upsert())) return true;
  return !known.has_value() && change.doc_id() < kFirstHashedDocId;
}

std::string UrlKeyOf(const DocumentChange& change) {
  return change.has_upsert() ? UrlKey(change.doc_id(), change.upsert()) : std::string();
}

// Replaces one key by another; an empty key means none.
void Replace(const std::string& before, const std::string& now, ChangeWriter* changes) {
  if (before == now) return;
  if (!before.empty()) changes->Delete(before);
  if (!now.empty()) changes->Put(now, "");
}

// Updates the secondary keys of the change, by url and by age.
void NoteKeys(const DocumentChange& change, const std::optional<DocumentChange>& known,
              ChangeWriter* changes) {
  const DocumentChange before = known.value_or(DocumentChange());
  Replace(UrlKeyOf(before), UrlKeyOf(change), changes);
  Replace(RemovalKeyOf(before), RemovalKeyOf(change), changes);
}

// Removals before this version may be forgotten: by the clock of the primary and by the writer's,
// so that one of them that runs ahead forgets nothing too early.
uint64_t ForgettableBefore(const PartitionChange& change, const ChangeStamp& stamp) {
  uint64_t newest = 0;
  for (const DocumentChange& document : change.documents()) {
    newest = std::max(newest, document.version());
  }
  newest = std::min(newest, VersionAt(stamp.accepted_at));
  return newest - std::min(newest, VersionSpan(kRemovalsKept));
}

std::string RequestAgeKey(uint64_t version, std::string_view key) {
  std::string age_key = "q";
  AppendBigEndian(version, 8, &age_key);
  age_key += key;
  return age_key;
}

// Each write that carries a key forgets some old keys.
neptune::Status ForgetRequestKeys(const RequestKey& given, const ChangeStamp& stamp,
                                  const ChangeReader& before, ChangeWriter* changes) {
  uint64_t newest = std::min(given.version(), VersionAt(stamp.accepted_at));
  newest -= std::min(newest, VersionSpan(kRequestKeysKept));
  size_t count = 0;
  const auto forget = [&](std::string_view key, std::string_view) {
    changes->Delete(key);
    changes->Delete(neptune::StrCat("k", key.substr(9)));
    return ++count < kForgottenOfWriteMin;
  };
  return before.Scan(RequestAgeKey(0, ""), RequestAgeKey(newest, ""), forget);
}

// The stored record of the request: the first one of this name; if there was none, the given one.
neptune::StatusOr<RequestKey> ExecuteRequestKey(const RequestKey& given, const ChangeStamp& stamp,
                                                const ChangeReader& before, ChangeWriter* changes) {
  const std::string key = neptune::StrCat("k", given.key());
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, before.Get(key));
  RequestKey known = given;
  if (value.has_value()) {
    NEPTUNE_RETURN_IF_ERROR(Parse(key, *value, &known));
    known.set_key(given.key());
    return known;
  }
  NEPTUNE_RETURN_IF_ERROR(ForgetRequestKeys(given, stamp, before, changes));
  known.clear_key();
  changes->Put(key, known.SerializeAsString());
  changes->Put(RequestAgeKey(given.version(), given.key()), "");
  return given;
}

// Returns the largest version forgotten so far.
neptune::StatusOr<uint64_t> ForgetRemovals(const PartitionChange& change, const ChangeStamp& stamp,
                                           const ChangeReader& before, ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t forgotten_before, GetNumber(before, kForgottenKey));
  const size_t count_max = kForgottenOfWriteMin + 2 * static_cast<size_t>(change.documents_size());
  uint64_t forgotten = forgotten_before;
  size_t count = 0;
  const auto forget = [&](std::string_view key, std::string_view) {
    changes->Delete(key);
    changes->Delete(DocumentKey(FromBigEndian(key.substr(9))));
    forgotten = std::max(forgotten, FromBigEndian(key.substr(1, 8)));
    return ++count < count_max;
  };
  NEPTUNE_RETURN_IF_ERROR(
      before.Scan(RemovalKey(0, 0), RemovalKey(ForgettableBefore(change, stamp), 0), forget));
  if (forgotten != forgotten_before) PutNumber(kForgottenKey, forgotten, changes);
  return forgotten;
}

neptune::StatusOr<DocumentOutcome> ExecuteDocument(const DocumentChange& change, uint64_t forgotten,
                                                   const ChangeReader& before,
                                                   ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto known, ReadChange(before, change.doc_id()));
  if (known.has_value() && known->version() > change.version()) return DocumentOutcome::kOutdated;
  if (!known.has_value() && change.doc_id() >= kFirstHashedDocId && change.version() <= forgotten) {
    return DocumentOutcome::kLate;
  }
  DocumentChange kept = change;
  if (kept.has_upsert() && !kept.upsert().has_static_rank() && known.has_value() &&
      known->upsert().has_static_rank()) {
    kept.mutable_upsert()->set_static_rank(known->upsert().static_rank());
  }
  changes->Put(DocumentKey(change.doc_id()), kept.SerializeAsString());
  NoteKeys(kept, known, changes);
  return MayChange(change, known) ? DocumentOutcome::kChanged : DocumentOutcome::kKept;
}

neptune::Status ExecuteStatistics(const StatisticsPiece& piece, const ChangeReader& before,
                                  ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece in_use, StatisticsInUse(before));
  if (piece.version() <= in_use.version()) return neptune::OkStatus();  // a repetition
  if (piece.index() > 0) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto last,
                             before.Get(PieceKey(piece.version(), piece.index() - 1)));
    if (!last.has_value()) {
      return neptune::InvalidArgument("statistics ", piece.version(), ": piece ", piece.index(),
                                      " arrived without the previous one");
    }
  } else {
    // Drops the pieces of uploads that began and never ended.
    changes->DeleteRange(PieceKey(in_use.version() + 1, 0), PieceKey(piece.version(), 0));
  }
  changes->Put(PieceKey(piece.version(), piece.index()), piece.data());
  if (piece.index() + 1 < piece.count()) return neptune::OkStatus();
  StatisticsPiece next = piece;
  next.clear_data();
  next.clear_index();
  changes->Put(kStatisticsInUseKey, next.SerializeAsString());
  changes->DeleteRange(PieceKey(0, 0), PieceKey(piece.version(), 0));
  return neptune::OkStatus();
}

neptune::Status NameWrite(const ChangeStamp& stamp, const ChangeReader& before,
                          ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const LastWriteName last, LastWrite(before));
  std::string chain;
  AppendBigEndian(last.history, 8, &chain);
  AppendBigEndian(stamp.lsn, 8, &chain);
  AppendBigEndian(static_cast<uint64_t>(stamp.accepted_at.ns_since_1970), 8, &chain);
  std::string name;
  AppendBigEndian(stamp.lsn, 8, &name);
  AppendBigEndian(XXH3_64bits(chain.data(), chain.size()), 8, &name);
  changes->Put(kLastWriteKey, name);
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<ChangeAnswer> ExecuteChange(const PartitionChange& change,
                                              const ChangeStamp& stamp, const ChangeReader& before,
                                              ChangeWriter* changes) {
  ChangeAnswer answer;
  // Must come first: a document that is forgotten and returns with this write is put after it.
  NEPTUNE_ASSIGN_OR_RETURN(const uint64_t forgotten,
                           ForgetRemovals(change, stamp, before, changes));
  uint64_t changed_count = 0;
  for (const DocumentChange& document : change.documents()) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto outcome,
                             ExecuteDocument(document, forgotten, before, changes));
    if (outcome == DocumentOutcome::kOutdated) answer.add_outdated_doc_ids(document.doc_id());
    if (outcome == DocumentOutcome::kLate) answer.add_late_doc_ids(document.doc_id());
    if (outcome == DocumentOutcome::kChanged) ++changed_count;
  }
  if (changed_count > 0) {
    NEPTUNE_ASSIGN_OR_RETURN(const uint64_t count_before, ChangeCount(before));
    PutNumber(kChangeCountKey, count_before + changed_count, changes);
  }
  if (change.has_request_key()) {
    NEPTUNE_ASSIGN_OR_RETURN(*answer.mutable_request_key(),
                             ExecuteRequestKey(change.request_key(), stamp, before, changes));
  }
  if (change.has_statistics()) {
    NEPTUNE_RETURN_IF_ERROR(ExecuteStatistics(change.statistics(), before, changes));
  }
  NEPTUNE_RETURN_IF_ERROR(NameWrite(stamp, before, changes));
  return answer;
}

neptune::StatusOr<LastWriteName> LastWrite(const ChangeReader& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(kLastWriteKey));
  if (!value.has_value()) return LastWriteName();
  if (value->size() != 16) return neptune::DataLoss("change state: the last write is damaged");
  const std::string_view bytes = *value;
  return LastWriteName{FromBigEndian(bytes.substr(0, 8)), FromBigEndian(bytes.substr(8))};
}

neptune::StatusOr<uint64_t> ChangeCount(const ChangeReader& state) {
  return GetNumber(state, kChangeCountKey);
}

neptune::StatusOr<std::optional<DocumentChange>> ReadChange(const ChangeReader& state,
                                                            uint64_t doc_id) {
  const std::string key = DocumentKey(doc_id);
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(key));
  std::optional<DocumentChange> change;
  if (value.has_value()) NEPTUNE_RETURN_IF_ERROR(Parse(key, *value, &change.emplace()));
  return change;
}

neptune::StatusOr<std::optional<uint64_t>> FindChangedUrl(const ChangeReader& state,
                                                          std::string_view url) {
  const std::string first = UrlKeys(url);
  std::string end = first;
  AppendBigEndian(UINT64_MAX, 8, &end);
  std::vector<uint64_t> candidates;
  const auto visitor = [&](std::string_view key, std::string_view) {
    candidates.push_back(FromBigEndian(key.substr(first.size())));
    return candidates.size() < kUrlCandidatesMax;
  };
  NEPTUNE_RETURN_IF_ERROR(state.Scan(first, end, visitor));
  for (const uint64_t doc_id : candidates) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto change, ReadChange(state, doc_id));
    if (change.has_value() && change->upsert().url() == url) return doc_id;
  }
  return std::nullopt;
}

neptune::Status VisitChanges(const ChangeReader& state,
                             const std::function<neptune::Status(const DocumentChange&)>& visit) {
  neptune::Status status;
  const auto visitor = [&](std::string_view key, std::string_view value) {
    DocumentChange change;
    status = Parse(key, value, &change);
    if (status.ok()) status = visit(change);
    return status.ok();
  };
  NEPTUNE_RETURN_IF_ERROR(state.Scan("d", "e", visitor));
  return status;
}

neptune::StatusOr<StatisticsPiece> StatisticsInUse(const ChangeReader& state) {
  StatisticsPiece in_use;
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(kStatisticsInUseKey));
  if (value.has_value()) NEPTUNE_RETURN_IF_ERROR(Parse(kStatisticsInUseKey, *value, &in_use));
  return in_use;
}

neptune::StatusOr<StatisticsPiece> ReadStatistics(const ChangeReader& state) {
  NEPTUNE_ASSIGN_OR_RETURN(StatisticsPiece whole, StatisticsInUse(state));
  uint32_t count = 0;
  const auto append = [&](std::string_view, std::string_view piece) {
    whole.mutable_data()->append(piece);
    ++count;
    return true;
  };
  NEPTUNE_RETURN_IF_ERROR(
      state.Scan(PieceKey(whole.version(), 0), PieceKey(whole.version(), whole.count()), append));
  if (count != whole.count() || count == 0) {
    return neptune::DataLoss("statistics ", whole.version(), ": ", count, " pieces of ",
                             whole.count());
  }
  return whole;
}

std::vector<PartitionChange> StatisticsChanges(const StatisticsPiece& head, std::string_view file) {
  const size_t count =
      std::max<size_t>(1, (file.size() + kStatisticsPieceSizeMax - 1) / kStatisticsPieceSizeMax);
  std::vector<PartitionChange> changes(count);
  for (size_t i = 0; i < count; ++i) {
    StatisticsPiece& piece = *changes[i].mutable_statistics();
    piece = head;
    piece.set_index(static_cast<uint32_t>(i));
    piece.set_count(static_cast<uint32_t>(count));
    piece.set_data(std::string(file.substr(i * kStatisticsPieceSizeMax, kStatisticsPieceSizeMax)));
  }
  return changes;
}

}  // namespace search::index
