#include "neptune/replication/state/store_state.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "neptune/base/byte_order.h"
#include "neptune/base/strings.h"
#include "neptune/replication/log/sealed_record.h"
#include "neptune/replication/state/answer_filter.h"
#include "neptune/replication/state/overlaid_store.h"
#include "neptune/replication/state/store_snapshot.h"

namespace neptune {
namespace {

// Prefixes of keys.
constexpr char kAnswerPrefix = 'a';    // + request id: the answer to the write
constexpr char kAnsweredPrefix = 'o';  // + LSN: the request id of a remembered answer
// The latest time of a write. It has the prefix of answers, but is shorter than their keys, so that
// members that do not know it take it from a snapshot.
constexpr std::string_view kNewestWriteKey = "at";
constexpr std::string_view kRestoreKey = "r";  // a restore is in progress
constexpr std::string_view kStateKey = "s";    // the last completed write
constexpr char kUserPrefix = 'u';              // + the service's key
constexpr std::string_view kUserEnd = "v";
constexpr uint8_t kStateVersion = 1;
constexpr Lsn kAnyLsn = std::numeric_limits<Lsn>::max();

std::string UserKey(std::string_view key) {
  std::string result(1, kUserPrefix);
  result.append(key);
  return result;
}

std::string AnswerKey(const RequestId& id) {
  std::string key(1, kAnswerPrefix);
  ByteWriter out(&key);
  out.Number(id.client);
  out.Number(id.number);
  return key;
}

std::string AnsweredKey(Lsn lsn) {
  std::string key(1, kAnsweredPrefix);
  ByteWriter(&key).Number(lsn);
  return key;
}

std::string EncodeState(Lsn completed) {
  std::string body;
  ByteWriter out(&body);
  out.Number(kStateVersion);
  out.Number(completed);
  return Sealed(body);
}

StatusOr<Lsn> DecodeState(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body,
                           Unsealed(bytes, "a record of the state of a partition"));
  ByteReader in(body);
  const uint8_t version = in.Number<uint8_t>();
  const Lsn completed = in.Number<uint64_t>();
  if (in.finished() && version == kStateVersion) {
    return completed <= kLsnMax ? StatusOr<Lsn>(completed)
                                : DataLoss("the partition's last write cannot be ", completed);
  }
  return DataLoss("the partition's state has unknown version ", int{version});
}

std::string EncodeTime(WallTime time) {
  std::string body;
  ByteWriter(&body).Number(static_cast<uint64_t>(time.ns_since_1970));
  return Sealed(body);
}

StatusOr<WallTime> DecodeTime(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body,
                           Unsealed(bytes, "a record of the state of a partition"));
  ByteReader in(body);
  const WallTime time = {static_cast<int64_t>(in.Number<uint64_t>())};
  if (in.finished()) return time;
  return DataLoss("the time of the newest write is damaged");
}

struct Answer {
  Lsn lsn = 0;
  WriteOutcome outcome;
};

std::string EncodeAnswer(Lsn lsn, const WriteOutcome& outcome) {
  const bool keeps_response = outcome.response.size() <= kAnswerSizeMax;
  std::string body;
  ByteWriter out(&body);
  out.Number(lsn);
  out.Number(static_cast<uint8_t>(outcome.status.code()));
  out.Counted<uint16_t>(ToStd(outcome.status.message()));
  out.Counted<uint16_t>(keeps_response ? std::string_view(outcome.response) : std::string_view());
  return Sealed(body);
}

StatusOr<Answer> DecodeAnswer(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body,
                           Unsealed(bytes, "a record of the state of a partition"));
  ByteReader in(body);
  Answer answer;
  answer.lsn = in.Number<uint64_t>();
  const uint8_t code = in.Number<uint8_t>();
  const std::string_view message = in.Counted<uint16_t>();
  answer.outcome.response = std::string(in.Counted<uint16_t>());
  if (!in.finished() || answer.lsn > kLsnMax ||
      code > static_cast<uint8_t>(StatusCode::kUnauthenticated)) {
    return DataLoss("a remembered answer is damaged");
  }
  answer.outcome.status = Status(static_cast<StatusCode>(code), ToAbsl(message));
  return answer;
}

StatusOr<RequestId> DecodeRequestId(std::string_view bytes) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string_view body,
                           Unsealed(bytes, "a record of the state of a partition"));
  ByteReader in(body);
  RequestId id;
  id.client = in.Number<uint64_t>();
  id.number = in.Number<uint64_t>();
  if (in.finished()) return id;
  return DataLoss("the request id of a remembered answer is damaged");
}

std::string EncodeRequestId(const RequestId& id) {
  std::string body;
  ByteWriter out(&body);
  out.Number(id.client);
  out.Number(id.number);
  return Sealed(body);
}

// Truncates the status to what is remembered, so that a duplicate gets the same.
Status Cut(const Status& status) {
  if (status.message().size() <= kOutcomeMessageSizeMax)
    return Status(status.code(), status.message());
  return Status(status.code(), status.message().substr(0, kOutcomeMessageSizeMax));
}

Status CheckChanges(const WriteBatch& changes) {
  NEPTUNE_RETURN_IF_ERROR(changes.Check());
  if (changes.size() <= kWriteChangesSizeMax) return OkStatus();
  return InvalidArgument("changes of ", changes.size(), " bytes exceed ", kWriteChangesSizeMax);
}

// Checks a record of the runtime; OK for the service's own values.
Status CheckRecord(std::string_view key, std::string_view value) {
  if (key == kStateKey) return DecodeState(value).status();
  if (key == kNewestWriteKey) return DecodeTime(value).status();
  if (key.starts_with(kAnswerPrefix)) return DecodeAnswer(value).status();
  if (key.starts_with(kAnsweredPrefix)) return DecodeRequestId(value).status();
  return OkStatus();
}

// Checks that each of the writes follows the one before it, and the first one `completed`.
Status CheckFollow(const std::vector<const LogEntry*>& writes, Lsn completed) {
  for (const LogEntry* const write : writes) {
    if (!IsWrite(write->kind) || write->lsn <= completed) {
      return FailedPrecondition("log entry ", write->lsn, " cannot be executed after ", completed);
    }
    completed = write->lsn;
  }
  return OkStatus();
}

bool IsRestorable(std::string_view key) {
  return !key.empty() &&
         (key[0] == kAnswerPrefix || key[0] == kAnsweredPrefix || key[0] == kUserPrefix);
}

}  // namespace

struct StoreState::Run {
  Run(const KeyValueStore& store, Lsn completed, int64_t newest_write_ns)
      : changes(store), before(completed), last(completed), newest_ns(newest_write_ns) {}
  OverlaidStore changes;
  const Lsn before;   // the last write in the store
  Lsn last;           // of the run
  int64_t newest_ns;  // the latest time of a write
};

StatusOr<std::optional<std::string>> StoreView::Get(std::string_view key) const {
  StatusOr<std::optional<std::string>> value = store_.Get(UserKey(key));
  NEPTUNE_RETURN_IF_ERROR(Noted(value.status()));
  return value;
}

Status StoreView::Scan(const ScanOptions& options, const KeyValueStore::Visitor& visitor) const {
  const ScanOptions bounds = {.first = UserKey(options.first),
                              .end = options.end ? UserKey(*options.end) : std::string(kUserEnd),
                              .backward = options.backward,
                              .fills_cache = options.fills_cache};
  return Noted(store_.Scan(bounds, [&visitor](std::string_view key, std::string_view value) {
    return visitor(key.substr(1), value);
  }));
}

Status StoreView::Noted(const Status& status) const {
  if (!status.ok() && failure_ != nullptr && failure_->ok()) *failure_ = status;
  return status;
}

void StoreChanges::Put(std::string_view key, std::string_view value) {
  batch_.Put(UserKey(key), value);
}

void StoreChanges::Delete(std::string_view key) { batch_.Delete(UserKey(key)); }

void StoreChanges::DeleteRange(std::string_view first, std::string_view end) {
  batch_.DeleteRange(UserKey(first), UserKey(end));
}

StoreState::StoreState(std::unique_ptr<KeyValueStore> store, Options options)
    : store_(std::move(store)),
      options_(std::move(options)),
      view_(*store_),
      answered_(std::make_unique<AnswerFilter>(kAnswersKept)) {}

StoreState::~StoreState() = default;

StatusOr<std::unique_ptr<StoreState>> StoreState::Open(std::unique_ptr<KeyValueStore> store,
                                                       Options options) {
  std::unique_ptr<StoreState> state(new StoreState(std::move(store), std::move(options)));
  const PartitionId partition = state->options_.partition;
  NEPTUNE_RETURN_IF_ERROR(
      Annotate(state->Load(), StrCat("open the data of partition ", partition)));
  return state;
}

Status StoreState::Load() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto restore, store_->Get(kRestoreKey));
  if (restore) return Wipe(/*mark=*/false);
  NEPTUNE_ASSIGN_OR_RETURN(const auto state, store_->Get(kStateKey));
  if (!state) return OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const Lsn completed, DecodeState(*state));
  completed_ = completed;
  answered_->Begin(completed);
  return LoadNewestWrite();
}

Status StoreState::LoadNewestWrite() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, store_->Get(kNewestWriteKey));
  if (!bytes) return OkStatus();
  NEPTUNE_ASSIGN_OR_RETURN(const WallTime newest, DecodeTime(*bytes));
  newest_write_ns_ = newest.ns_since_1970;
  return OkStatus();
}

Status StoreState::CheckUsable() const {
  if (!broken_.ok()) {
    return FailedPrecondition("the data must be reopened after: ", ToStd(broken_.message()));
  }
  return restore_ ? FailedPrecondition("the data are being restored") : OkStatus();
}

Lsn StoreState::completed() const { return completed_; }

StatusOr<WriteOutcome> StoreState::Apply(const LogEntry& entry) {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<WriteOutcome> outcomes, ApplyRun({&entry}, nullptr));
  return std::move(outcomes.front());
}

StatusOr<std::vector<WriteOutcome>> StoreState::ApplyRun(const std::vector<const LogEntry*>& writes,
                                                         const std::function<bool()>& is_over) {
  NEPTUNE_RETURN_IF_ERROR(CheckUsable());
  NEPTUNE_RETURN_IF_ERROR(CheckFollow(writes, completed_));
  Run run(*store_, completed_, newest_write_ns_);
  StatusOr<std::vector<Executed>> executed = ExecuteSome(writes, is_over, run);
  if (!executed.ok()) return Fail(executed.status());
  if (Status status = WriteRun(run, /*is_restore=*/false); !status.ok()) return Fail(status);
  completed_ = run.last;
  std::vector<WriteOutcome> outcomes;
  for (size_t i = 0; i < executed->size(); ++i) {
    if ((*executed)[i].has_changed && options_.on_change) options_.on_change(writes[i]);
    outcomes.push_back(std::move((*executed)[i].outcome));
  }
  return outcomes;
}

StatusOr<std::vector<StoreState::Executed>> StoreState::ExecuteSome(
    Writes writes, const std::function<bool()>& is_over, Run& run) {
  std::vector<Executed> done;
  for (const LogEntry* const write : writes) {
    StatusOr<std::optional<Executed>> executed = ExecuteNext(*write, run);
    if (!executed.ok() && done.empty()) return executed.status();
    // A write that failed, or has no room, is the first one of the next run.
    if (!executed.ok() || !executed->has_value()) break;
    done.push_back(*std::move(*executed));
    if (run.changes.IsFull() || (is_over && is_over())) break;
  }
  return done;
}

Status StoreState::WriteRun(Run& run, bool is_restore) {
  NEPTUNE_RETURN_IF_ERROR(ForgetAnswers(run));
  WriteBatch batch;
  if (run.newest_ns != newest_write_ns_) batch.Put(kNewestWriteKey, EncodeTime({run.newest_ns}));
  if (!is_restore) batch.Put(kStateKey, EncodeState(run.last));
  run.changes.Add(std::move(batch));
  NEPTUNE_RETURN_IF_ERROR(store_->Write(run.changes.batch(), WriteMode::kBuffered));
  newest_write_ns_ = run.newest_ns;
  return OkStatus();
}

StatusOr<std::optional<StoreState::Executed>> StoreState::ExecuteNext(const LogEntry& entry,
                                                                      Run& run) {
  NEPTUNE_ASSIGN_OR_RETURN(std::optional<WriteOutcome> answered,
                           FindAnswer(run.changes, entry.request_id, entry.lsn));
  const bool is_first = !answered.has_value();
  Executed executed;
  WriteBatch batch;
  if (is_first) {
    NEPTUNE_ASSIGN_OR_RETURN(executed.outcome, Execute(run.changes, entry, batch));
  } else {
    executed.outcome = *std::move(answered);
  }
  const WriteBatch& before = run.changes.batch();
  const bool has_room =
      before.operations().empty() || before.size() + batch.size() <= OverlaidStore::kSizeMax;
  if (!has_room) return std::optional<Executed>();
  executed.has_changed = !batch.operations().empty();
  if (is_first && entry.request_id.given()) {
    batch.Put(AnswerKey(entry.request_id), EncodeAnswer(entry.lsn, executed.outcome));
    batch.Put(AnsweredKey(entry.lsn), EncodeRequestId(entry.request_id));
  }
  run.changes.Add(std::move(batch));
  run.last = entry.lsn;
  run.newest_ns = std::max(run.newest_ns, entry.accepted_at.ns_since_1970);
  if (entry.request_id.given()) answered_->Add(entry.lsn, entry.request_id);
  return std::optional(std::move(executed));
}

Status StoreState::Fail(const Status& status) {
  broken_ = status;
  return status;
}

StatusOr<std::optional<WriteOutcome>> StoreState::FindAnswer(const KeyValueStore& data,
                                                             const RequestId& id, Lsn lsn) const {
  std::optional<WriteOutcome> none;
  if (!id.given() || !answered_->MayHave(lsn, id)) return none;
  NEPTUNE_ASSIGN_OR_RETURN(const auto bytes, data.Get(AnswerKey(id)));
  if (!bytes) return none;
  NEPTUNE_ASSIGN_OR_RETURN(Answer answer, DecodeAnswer(*bytes));
  if (answer.lsn + kAnswersKept <= lsn) return none;
  return std::optional(std::move(answer.outcome));
}

StatusOr<WriteOutcome> StoreState::Execute(const KeyValueStore& data, const LogEntry& entry,
                                           WriteBatch& batch) const {
  WriteOutcome outcome;
  const auto write = options_.writes.find(entry.method);
  if (write == options_.writes.end()) {
    outcome.status = Unimplemented("no write ", entry.method);
    return outcome;
  }
  WriteBatch made;
  StoreChanges changes(made);
  Status failure;
  const StoreView view(data, &failure);
  const WriteContext context = {options_.partition, entry.lsn, entry.accepted_at, view, changes,
                                entry.request_id};
  outcome.status = Cut(write->second(context, entry.payload, &outcome.response));
  NEPTUNE_RETURN_IF_ERROR(failure);
  if (outcome.status.ok()) outcome.status = Cut(CheckChanges(made));
  if (outcome.status.ok()) {
    batch = std::move(made);
  } else {
    outcome.response.clear();
  }
  return outcome;
}

// Forgets for the whole run, after it: FindAnswer takes no answer that is older than it may be.
Status StoreState::ForgetAnswers(Run& run) const {
  if (run.last <= kAnswersKept) return OkStatus();
  const Lsn first = run.before > kAnswersKept ? run.before - kAnswersKept + 1 : 1;
  const Lsn last = run.last - kAnswersKept;
  WriteBatch forgotten;
  Status damage;
  const auto forget = [&](std::string_view key, std::string_view value) {
    const StatusOr<RequestId> id = DecodeRequestId(value);
    damage = id.status();
    if (!id.ok()) return false;
    // The write may have come again in this run, too late for that answer, and have another one.
    const std::string answer_key = AnswerKey(*id);
    const std::optional<std::string_view> answer = run.changes.Changed(answer_key);
    const bool is_replaced = answer && DecodeAnswer(*answer).value_or(Answer()).lsn > last;
    if (!is_replaced) forgotten.Delete(answer_key);
    forgotten.Delete(key);
    return true;
  };
  NEPTUNE_RETURN_IF_ERROR(
      run.changes.Scan({.first = AnsweredKey(first), .end = AnsweredKey(last + 1)}, forget));
  run.changes.Add(std::move(forgotten));
  return damage;
}

StatusOr<Lsn> StoreState::Flush() {
  const Lsn completed = completed_;
  NEPTUNE_RETURN_IF_ERROR(store_->Sync());
  return completed;
}

StatusOr<std::unique_ptr<SnapshotSource>> StoreState::OpenSnapshot() const {
  NEPTUNE_ASSIGN_OR_RETURN(std::unique_ptr<KeyValueView> view, store_->OpenView());
  StatusOr<Lsn> completed = Lsn{0};
  const auto find = [&](std::string_view key, std::string_view value) {
    if (key == kStateKey) completed = DecodeState(value);
    if (key == kRestoreKey) completed = FailedPrecondition("the data are being restored");
    return completed.ok() && key < kStateKey;
  };
  NEPTUNE_RETURN_IF_ERROR(
      view->Scan({.first = std::string(kRestoreKey), .end = std::string(kUserEnd)}, find));
  NEPTUNE_RETURN_IF_ERROR(completed.status());
  return std::make_unique<StoreSnapshot>(std::move(view), *completed, &IsRestorable);
}

// The store checks what it reads; records of the runtime have a checksum of their own as well.
StatusOr<VerifiedPart> StoreState::Verify(std::string_view from, size_t size_max) const {
  VerifiedPart part;
  Status damage;
  const auto check = [&](std::string_view key, std::string_view value) {
    if (part.size >= size_max && part.size > 0) {
      part.next = std::string(key);
      return false;
    }
    part.size += key.size() + value.size();
    damage = CheckRecord(key, value);
    return damage.ok();
  };
  const ScanOptions options = {.first = std::string(from), .fills_cache = false};
  NEPTUNE_RETURN_IF_ERROR(store_->Scan(options, check));
  NEPTUNE_RETURN_IF_ERROR(Annotate(damage, StrCat("the data of partition ", options_.partition)));
  return part;
}

Status StoreState::Wipe(bool mark) {
  WriteBatch batch;
  batch.DeleteRange(std::string_view(&kAnswerPrefix, 1), kUserEnd);
  if (mark) batch.Put(kRestoreKey, "");
  completed_ = 0;
  newest_write_ns_ = 0;
  answered_->Begin(mark ? kAnyLsn : 0);  // pieces that follow bring answers with them
  if (Status status = store_->Write(batch, WriteMode::kSynced); !status.ok()) return Fail(status);
  return OkStatus();
}

Status StoreState::BeginRestore() {
  restore_.reset();
  NEPTUNE_RETURN_IF_ERROR(CheckUsable());
  NEPTUNE_RETURN_IF_ERROR(Wipe(/*mark=*/true));
  restore_ = Restore();
  return OkStatus();
}

Status StoreState::RestorePiece(std::string_view piece) {
  if (!restore_) return FailedPrecondition("no restore is in progress");
  WriteBatch batch;
  Status status;
  const auto put = [&](std::string_view key, std::string_view value) {
    if (!IsRestorable(key)) status = DataLoss("a snapshot has an unknown key");
    batch.Put(key, value);
  };
  const Status taken = restore_->reader.Take(piece, put);
  if (!taken.ok()) status = taken;
  if (status.ok()) status = store_->Write(batch, WriteMode::kBuffered);
  if (status.ok() && restore_->reader.has_ended()) {
    restore_->executed = restore_->reader.completed();
    answered_->Begin(restore_->executed);
    status = LoadNewestWrite();
  }
  if (status.ok()) return status;
  restore_.reset();
  NEPTUNE_RETURN_IF_ERROR(Wipe(/*mark=*/false));
  return status;
}

Status StoreState::RestoreRun(const std::vector<const LogEntry*>& writes) {
  NEPTUNE_RETURN_IF_ERROR(CheckComplete());
  NEPTUNE_RETURN_IF_ERROR(CheckFollow(writes, restore_->executed));
  for (size_t count = 0; count < writes.size();) {
    Run run(*store_, restore_->executed, newest_write_ns_);
    const auto executed = ExecuteSome(Writes(writes).subspan(count), nullptr, run);
    if (!executed.ok()) return Fail(executed.status());
    if (Status status = WriteRun(run, /*is_restore=*/true); !status.ok()) return Fail(status);
    restore_->executed = run.last;
    count += executed->size();
  }
  return OkStatus();
}

// Ends a restore whose pieces are not complete.
Status StoreState::CheckComplete() {
  NEPTUNE_RETURN_IF_ERROR(broken_);
  if (!restore_) return FailedPrecondition("no restore is in progress");
  if (restore_->reader.has_ended()) return OkStatus();
  restore_.reset();
  NEPTUNE_RETURN_IF_ERROR(Wipe(/*mark=*/false));
  return DataLoss("the end of a snapshot is missing");
}

StatusOr<Lsn> StoreState::EndRestore() {
  NEPTUNE_RETURN_IF_ERROR(CheckComplete());
  const Lsn completed = restore_->executed;
  WriteBatch batch;
  batch.Delete(kRestoreKey);
  batch.Put(kStateKey, EncodeState(completed));
  if (Status status = store_->Write(batch, WriteMode::kSynced); !status.ok()) return Fail(status);
  restore_.reset();
  completed_ = completed;
  if (options_.on_change) options_.on_change(nullptr);
  return completed;
}

}  // namespace neptune
