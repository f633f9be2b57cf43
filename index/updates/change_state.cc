#include "index/updates/change_state.h"

#include <algorithm>

#include "index/updates/document_change.h"

namespace search::index {
namespace {

constexpr std::string_view kStatisticsInUseKey = "u";
constexpr std::string_view kLastWriteKey = "w";

void AppendBigEndian(uint64_t number, int size, std::string* key) {
  for (int i = size - 1; i >= 0; --i) key->push_back(static_cast<char>(number >> (8 * i)));
}

std::string DocumentKey(uint64_t doc_id) {
  std::string key = "d";
  AppendBigEndian(doc_id, 8, &key);
  return key;
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

neptune::StatusOr<StatisticsPiece> InUse(const ChangeReader& state) {
  StatisticsPiece in_use;
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(kStatisticsInUseKey));
  if (value.has_value()) NEPTUNE_RETURN_IF_ERROR(Parse(kStatisticsInUseKey, *value, &in_use));
  return in_use;
}

// False: outdated.
neptune::StatusOr<bool> ExecuteDocument(const DocumentChange& change, const ChangeReader& before,
                                        ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto known, ReadChange(before, change.doc_id()));
  if (known.has_value() && known->version() > change.version()) return false;
  DocumentChange kept = change;
  if (kept.has_upsert() && !kept.upsert().has_static_rank() && known.has_value() &&
      known->upsert().has_static_rank()) {
    kept.mutable_upsert()->set_static_rank(known->upsert().static_rank());
  }
  changes->Put(DocumentKey(change.doc_id()), kept.SerializeAsString());
  return true;
}

neptune::Status ExecuteStatistics(const StatisticsPiece& piece, const ChangeReader& before,
                                  ChangeWriter* changes) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece in_use, InUse(before));
  if (piece.version() <= in_use.version()) return neptune::OkStatus();  // it came again
  if (piece.index() > 0) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto last,
                             before.Get(PieceKey(piece.version(), piece.index() - 1)));
    if (!last.has_value()) {
      return neptune::InvalidArgument("statistics ", piece.version(), ": piece ", piece.index(),
                                      " came without the one before");
    }
  } else {
    // What began and never ended goes.
    changes->DeleteRange(PieceKey(in_use.version() + 1, 0), PieceKey(piece.version(), 0));
  }
  changes->Put(PieceKey(piece.version(), piece.index()), piece.data());
  if (piece.index() + 1 < piece.count()) return neptune::OkStatus();
  StatisticsPiece next;
  next.set_version(piece.version());
  next.set_count(piece.count());
  changes->Put(kStatisticsInUseKey, next.SerializeAsString());
  changes->DeleteRange(PieceKey(0, 0), PieceKey(piece.version(), 0));
  return neptune::OkStatus();
}

}  // namespace

neptune::StatusOr<ChangeAnswer> ExecuteChange(const PartitionChange& change, uint64_t lsn,
                                              const ChangeReader& before, ChangeWriter* changes) {
  ChangeAnswer answer;
  for (const DocumentChange& document : change.documents()) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool taken, ExecuteDocument(document, before, changes));
    if (!taken) answer.add_outdated_doc_ids(document.doc_id());
  }
  if (change.has_statistics()) {
    NEPTUNE_RETURN_IF_ERROR(ExecuteStatistics(change.statistics(), before, changes));
  }
  std::string last;
  AppendBigEndian(lsn, 8, &last);
  changes->Put(kLastWriteKey, last);
  return answer;
}

neptune::StatusOr<uint64_t> LastWrite(const ChangeReader& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(kLastWriteKey));
  if (!value.has_value()) return 0;
  if (value->size() != 8) return neptune::DataLoss("change state: the last write is damaged");
  uint64_t lsn = 0;
  for (const char byte : *value) lsn = lsn << 8 | static_cast<uint8_t>(byte);
  return lsn;
}

neptune::StatusOr<std::optional<DocumentChange>> ReadChange(const ChangeReader& state,
                                                            uint64_t doc_id) {
  const std::string key = DocumentKey(doc_id);
  NEPTUNE_ASSIGN_OR_RETURN(const auto value, state.Get(key));
  std::optional<DocumentChange> change;
  if (value.has_value()) NEPTUNE_RETURN_IF_ERROR(Parse(key, *value, &change.emplace()));
  return change;
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

neptune::StatusOr<uint64_t> StatisticsVersion(const ChangeReader& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece in_use, InUse(state));
  return in_use.version();
}

neptune::StatusOr<std::string> ReadStatistics(const ChangeReader& state) {
  NEPTUNE_ASSIGN_OR_RETURN(const StatisticsPiece in_use, InUse(state));
  std::string file;
  uint32_t count = 0;
  const auto append = [&](std::string_view, std::string_view piece) {
    file += piece;
    ++count;
    return true;
  };
  NEPTUNE_RETURN_IF_ERROR(state.Scan(PieceKey(in_use.version(), 0),
                                     PieceKey(in_use.version(), in_use.count()), append));
  if (count != in_use.count() || count == 0) {
    return neptune::DataLoss("statistics ", in_use.version(), ": ", count, " pieces of ",
                             in_use.count());
  }
  return file;
}

std::vector<PartitionChange> StatisticsChanges(uint64_t version, std::string_view file) {
  const size_t count =
      std::max<size_t>(1, (file.size() + kStatisticsPieceSizeMax - 1) / kStatisticsPieceSizeMax);
  std::vector<PartitionChange> changes(count);
  for (size_t i = 0; i < count; ++i) {
    StatisticsPiece& piece = *changes[i].mutable_statistics();
    piece.set_version(version);
    piece.set_index(static_cast<uint32_t>(i));
    piece.set_count(static_cast<uint32_t>(count));
    piece.set_data(std::string(file.substr(i * kStatisticsPieceSizeMax, kStatisticsPieceSizeMax)));
  }
  return changes;
}

}  // namespace search::index
