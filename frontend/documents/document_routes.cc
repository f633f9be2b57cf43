#include "frontend/documents/document_routes.h"

#include <glog/logging.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "frontend/documents/html_content.h"
#include "index/updates/document_change.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {
namespace {

static_assert(sizeof(XXH128_canonical_t) == index::kRequestKeySize);

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;
using neptune::TimePoint;
using nlohmann::json;

json LineAnswer(size_t number, bool has_id, const DocumentWriter::Written& written) {
  const Status& status = written.status;
  json line = {{"line", number}, {"status", neptune::HttpStatusOf(status.code())}};
  if (has_id) line["id"] = std::to_string(written.doc_id);
  if (!status.ok()) line["detail"] = std::string(neptune::ToStd(status.message()));
  return line;
}

// Hash of method, target, type and body, each but the last with a line break.
uint64_t HashOfContents(const HttpRequest& request) {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  for (const std::string_view part :
       {std::string_view(request.method), std::string_view("\n"), std::string_view(request.target),
        std::string_view("\n"), request.headers.Get("Content-Type"), std::string_view("\n"),
        std::string_view(request.body)}) {
    XXH3_64bits_update(state.get(), part.data(), part.size());
  }
  return XXH3_64bits_digest(state.get());
}

// Name of the request by its header Idempotency-Key; nullopt if it has none.
StatusOr<std::optional<DocumentWriter::RequestName>> NameOf(const HttpRequest& request) {
  if (!request.headers.Has(kIdempotencyKeyHeader)) return std::nullopt;
  const std::string_view key = request.headers.Get(kIdempotencyKeyHeader);
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (request.headers.Count(kIdempotencyKeyHeader) > 1 || key.empty() ||
      key.size() > kIdempotencyKeySizeMax || !std::all_of(key.begin(), key.end(), is_visible)) {
    return neptune::InvalidArgument("header Idempotency-Key: must be one value of 1 to ",
                                    kIdempotencyKeySizeMax, " visible characters");
  }
  const XXH128_canonical_t hash = [&] {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(key.data(), key.size()));
    return canonical;
  }();
  DocumentWriter::RequestName name;
  name.key.assign(reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest));
  name.contents = HashOfContents(request);
  return std::optional(std::move(name));
}

bool HasType(const HttpRequest& request, std::string_view type) {
  return request.headers.Get("Content-Type").starts_with(type);
}

StatusOr<std::vector<BulkLine>> ParseBody(std::string_view body, bool is_bulk) {
  if (is_bulk) return ParseBulk(body);
  std::vector<BulkLine> lines;
  lines.push_back({1, ParseDocument(body)});
  return lines;
}

bool HasHtml(const std::vector<BulkLine>& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const BulkLine& line) {
    return line.edit.ok() && line.edit->html.has_value();
  });
}

// Extracts the contents of documents that came as HTML.
void ReadPages(std::vector<BulkLine>* lines) {
  for (BulkLine& line : *lines) {
    if (!line.edit.ok()) continue;
    const Status read = ReadHtmlContent(&*line.edit);
    if (!read.ok()) line.edit = read;
  }
}

void Note(const DocumentWriter::Written& written, ChangedDocuments* changed) {
  if (written.status.ok()) {
    changed->written.push_back(written.doc_id);
  } else {
    ++changed->failed_count;
  }
}

}  // namespace

HttpResponse DocumentRoutes::Post(const HttpRequest& request, ChangedDocuments* changed) const {
  if (HasType(request, "application/x-ndjson")) return PostBulk(request, changed);
  if (HasType(request, "application/json")) return PostOne(request, changed);
  return neptune::ProblemResponse(415, "",
                                  "Content-Type must be application/json or application/x-ndjson");
}

HttpResponse DocumentRoutes::Delete(const HttpRequest& request, ChangedDocuments* changed) const {
  const std::string_view text =
      std::string_view(request.path).substr(std::string_view(kDocumentsPrefix).size());
  const StatusOr<uint64_t> doc_id = ParseDocumentId("path", text);
  if (!doc_id.ok()) return neptune::ProblemResponse(doc_id.status());
  return WriteOne({.doc_id = *doc_id, .content = std::nullopt}, request, changed);
}

HttpResponse DocumentRoutes::DeleteUrl(const HttpRequest& request,
                                       ChangedDocuments* changed) const {
  const auto url = request.Parameter("url");
  if (!url.has_value()) {
    return neptune::ProblemResponse(neptune::InvalidArgument("parameter url: missing"));
  }
  StatusOr<DocumentEdit> edit = RemovalOfUrl(*url);
  if (!edit.ok()) return neptune::ProblemResponse(edit.status());
  return WriteOne(*std::move(edit), request, changed);
}

HttpResponse DocumentRoutes::PostOne(const HttpRequest& request, ChangedDocuments* changed) const {
  BodyRead read = Read(request, /*is_bulk=*/false, request.received + timeout_);
  if (!read.status.ok()) return neptune::ProblemResponse(read.status);
  StatusOr<DocumentEdit>& edit = read.lines->front().edit;
  if (!edit.ok()) return neptune::ProblemResponse(edit.status());
  return WriteOne(*std::move(edit), request, changed);
}

HttpResponse DocumentRoutes::WriteOne(DocumentEdit edit, const HttpRequest& request,
                                      ChangedDocuments* changed) const {
  const auto name = NameOf(request);
  if (!name.ok()) return neptune::ProblemResponse(name.status());
  std::vector<DocumentEdit> edits;
  edits.push_back(std::move(edit));
  const auto written = writer_.Write({std::move(edits), *name, request.received + timeout_})[0];
  Note(written, changed);
  if (!written.status.ok()) return neptune::ProblemResponse(written.status);
  return HttpResponse::Json(200, json{{"id", std::to_string(written.doc_id)}}.dump());
}

DocumentRoutes::BodyRead DocumentRoutes::Read(const HttpRequest& request, bool is_bulk,
                                              TimePoint deadline) const {
  struct Task {
    std::string body;  // empty: it is parsed
    StatusOr<std::vector<BulkLine>> lines = std::vector<BulkLine>();
  };
  const auto task = std::make_shared<Task>();
  const bool is_small = request.body.size() <= kParsedInPlaceSizeMax;
  if (is_small) {
    task->lines = ParseBody(request.body, is_bulk);
    if (!task->lines.ok() || !HasHtml(*task->lines)) return {{}, std::move(task->lines)};
  } else {
    task->body = request.body;
  }
  const Status run = html_threads_.Run(
      [task, is_small, is_bulk] {
        if (!is_small) task->lines = ParseBody(task->body, is_bulk);
        if (task->lines.ok()) ReadPages(&*task->lines);
      },
      deadline);
  // After an error the task may still run.
  if (!run.ok()) return {run, std::vector<BulkLine>()};
  return {{}, std::move(task->lines)};
}

HttpResponse DocumentRoutes::PostBulk(const HttpRequest& request, ChangedDocuments* changed) const {
  const TimePoint deadline = request.received + timeout_;
  BodyRead read = Read(request, /*is_bulk=*/true, deadline);
  if (!read.status.ok()) return neptune::ProblemResponse(read.status);
  auto& lines = read.lines;
  if (lines.status().code() == neptune::StatusCode::kResourceExhausted) {
    return neptune::ProblemResponse(413, "", neptune::ToStd(lines.status().message()));
  }
  if (!lines.ok()) return neptune::ProblemResponse(lines.status());
  const auto name = NameOf(request);
  if (!name.ok()) return neptune::ProblemResponse(name.status());
  std::vector<DocumentEdit> edits;
  for (BulkLine& line : *lines) {
    if (line.edit.ok()) edits.push_back(*std::move(line.edit));
  }
  const auto written = writer_.Write({std::move(edits), *name, deadline});
  json answers = json::array();
  size_t failed_count = 0;
  size_t next = 0;
  for (const BulkLine& line : *lines) {
    DocumentWriter::Written of_line{.status = line.edit.status()};
    if (line.edit.ok()) {
      of_line = written[next++];
      Note(of_line, changed);
    }
    failed_count += of_line.status.ok() ? 0 : 1;
    answers.push_back(LineAnswer(line.number, line.edit.ok(), of_line));
  }
  const json answer = {{"documents", std::move(answers)}, {"failed", failed_count}};
  return HttpResponse::Json(200, answer.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace search::frontend
