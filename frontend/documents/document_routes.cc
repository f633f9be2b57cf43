#include "frontend/documents/document_routes.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusOr;
using nlohmann::json;

json LineAnswer(size_t number, bool has_id, const DocumentWriter::Written& written) {
  const Status& status = written.status;
  json line = {{"line", number}, {"status", neptune::HttpStatusOf(status.code())}};
  if (has_id) line["id"] = std::to_string(written.doc_id);
  if (!status.ok()) line["detail"] = std::string(neptune::ToStd(status.message()));
  return line;
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
  return WriteOne(*std::move(edit), request.received);
}

HttpResponse DocumentRoutes::Delete(const HttpRequest& request) const {
  const std::string_view text =
      std::string_view(request.path).substr(std::string_view(kDocumentsPrefix).size());
  const StatusOr<uint64_t> doc_id = ParseDocumentId("path", text);
  if (!doc_id.ok()) return neptune::ProblemResponse(doc_id.status());
  return WriteOne({.doc_id = *doc_id, .content = std::nullopt}, request.received);
}

HttpResponse DocumentRoutes::DeleteUrl(const HttpRequest& request) const {
  const auto url = request.Parameter("url");
  if (!url.has_value()) {
    return neptune::ProblemResponse(neptune::InvalidArgument("parameter url: missing"));
  }
  StatusOr<DocumentEdit> edit = RemovalOfUrl(*url);
  if (!edit.ok()) return neptune::ProblemResponse(edit.status());
  return WriteOne(*std::move(edit), request.received);
}

HttpResponse DocumentRoutes::WriteOne(DocumentEdit edit, neptune::TimePoint received) const {
  std::vector<DocumentEdit> edits;
  edits.push_back(std::move(edit));
  const DocumentWriter::Written written = writer_.Write(edits, received + timeout_)[0];
  if (!written.status.ok()) return neptune::ProblemResponse(written.status);
  return HttpResponse::Json(200, json{{"id", std::to_string(written.doc_id)}}.dump());
}

HttpResponse DocumentRoutes::WriteBulk(const HttpRequest& request) const {
  const auto lines = ParseBulk(request.body);
  if (lines.status().code() == neptune::StatusCode::kResourceExhausted) {
    return neptune::ProblemResponse(413, "", neptune::ToStd(lines.status().message()));
  }
  if (!lines.ok()) return neptune::ProblemResponse(lines.status());
  std::vector<DocumentEdit> edits;
  for (const BulkLine& line : *lines) {
    if (line.edit.ok()) edits.push_back(*line.edit);
  }
  const auto written = writer_.Write(edits, request.received + timeout_);
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
