#include "frontend/documents/document_routes.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "frontend/documents/html_content.h"
#include "index/updates/document_change.h"
#include "neptune/base/strings.h"
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
  const std::string contents =
      neptune::StrCat(request.method, "\n", request.target, "\n",
                      request.headers.Get("Content-Type"), "\n", request.body);
  name.contents = XXH3_64bits(contents.data(), contents.size());
  return std::optional(std::move(name));
}

bool HasType(const HttpRequest& request, std::string_view type) {
  return request.headers.Get("Content-Type").starts_with(type);
}

}  // namespace

HttpResponse DocumentRoutes::Post(const HttpRequest& request) const {
  if (HasType(request, "application/x-ndjson")) return WriteBulk(request);
  if (!HasType(request, "application/json")) {
    return neptune::ProblemResponse(
        415, "", "Content-Type must be application/json or application/x-ndjson");
  }
  StatusOr<DocumentEdit> edit = ParseDocument(request.body);
  if (!edit.ok()) return neptune::ProblemResponse(edit.status());
  return WriteOne(*std::move(edit), request);
}

HttpResponse DocumentRoutes::Delete(const HttpRequest& request) const {
  const std::string_view text =
      std::string_view(request.path).substr(std::string_view(kDocumentsPrefix).size());
  const StatusOr<uint64_t> doc_id = ParseDocumentId("path", text);
  if (!doc_id.ok()) return neptune::ProblemResponse(doc_id.status());
  return WriteOne({.doc_id = *doc_id, .content = std::nullopt}, request);
}

HttpResponse DocumentRoutes::DeleteUrl(const HttpRequest& request) const {
  const auto url = request.Parameter("url");
  if (!url.has_value()) {
    return neptune::ProblemResponse(neptune::InvalidArgument("parameter url: missing"));
  }
  StatusOr<DocumentEdit> edit = RemovalOfUrl(*url);
  if (!edit.ok()) return neptune::ProblemResponse(edit.status());
  return WriteOne(*std::move(edit), request);
}

HttpResponse DocumentRoutes::WriteOne(DocumentEdit edit, const HttpRequest& request) const {
  const auto name = NameOf(request);
  if (!name.ok()) return neptune::ProblemResponse(name.status());
  const TimePoint deadline = request.received + timeout_;
  std::vector<DocumentEdit> edits;
  edits.push_back(std::move(edit));
  const Status read = ReadHtml(&edits, deadline)[0];
  if (!read.ok()) return neptune::ProblemResponse(read);
  const auto written = writer_.Write({std::move(edits), *name, deadline})[0];
  if (!written.status.ok()) return neptune::ProblemResponse(written.status);
  return HttpResponse::Json(200, json{{"id", std::to_string(written.doc_id)}}.dump());
}

std::vector<Status> DocumentRoutes::ReadHtml(std::vector<DocumentEdit>* edits,
                                             neptune::TimePoint deadline) const {
  std::vector<Status> statuses(edits->size());
  const auto has_html = [](const DocumentEdit& edit) { return edit.html.has_value(); };
  if (std::none_of(edits->begin(), edits->end(), has_html)) return statuses;
  struct Task {
    std::vector<DocumentEdit> edits;
    std::vector<Status> statuses;
  };
  const auto task = std::make_shared<Task>(Task{std::move(*edits), std::move(statuses)});
  const size_t count = task->edits.size();
  const Status run = html_threads_.Run(
      [task] {
        for (size_t i = 0; i < task->edits.size(); ++i) {
          task->statuses[i] = ReadHtmlContent(&task->edits[i]);
        }
      },
      deadline);
  if (!run.ok()) return std::vector<Status>(count, run);
  *edits = std::move(task->edits);
  return std::move(task->statuses);
}

HttpResponse DocumentRoutes::WriteBulk(const HttpRequest& request) const {
  auto lines = ParseBulk(request.body);
  if (lines.status().code() == neptune::StatusCode::kResourceExhausted) {
    return neptune::ProblemResponse(413, "", neptune::ToStd(lines.status().message()));
  }
  if (!lines.ok()) return neptune::ProblemResponse(lines.status());
  const auto name = NameOf(request);
  if (!name.ok()) return neptune::ProblemResponse(name.status());
  const TimePoint deadline = request.received + timeout_;
  std::vector<DocumentEdit> parsed;
  for (BulkLine& line : *lines) {
    if (line.edit.ok()) parsed.push_back(*std::move(line.edit));
  }
  const std::vector<Status> read = ReadHtml(&parsed, deadline);
  std::vector<DocumentEdit> edits;
  size_t next_parsed = 0;
  for (BulkLine& line : *lines) {
    if (!line.edit.ok()) continue;
    const size_t i = next_parsed++;
    if (read[i].ok()) {
      edits.push_back(std::move(parsed[i]));
    } else {
      line.edit = read[i];
    }
  }
  const auto written = writer_.Write({std::move(edits), *name, deadline});
  json answers = json::array();
  size_t failed_count = 0;
  size_t next = 0;
  for (const BulkLine& line : *lines) {
    DocumentWriter::Written of_line{.status = line.edit.status()};
    if (line.edit.ok()) of_line = written[next++];
    failed_count += of_line.status.ok() ? 0 : 1;
    answers.push_back(LineAnswer(line.number, line.edit.ok(), of_line));
  }
  const json answer = {{"documents", std::move(answers)}, {"failed", failed_count}};
  return HttpResponse::Json(200, answer.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace search::frontend
