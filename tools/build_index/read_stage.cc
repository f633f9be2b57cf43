#include "tools/build_index/read_stage.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "neptune/base/strings.h"
#include "tools/build_index/spool.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr uint64_t kReportedLinesMax = 20;
constexpr double kFullTextSize = 20000;
constexpr size_t kGoodTitleSizeMax = 80;
// Bytes of a document's headings that are kept for suggestions.
constexpr size_t kHeadingLinesSizeMax = size_t{16} << 10;

template <typename T>
std::string_view AsBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

uint64_t SizeOnDisk(const std::vector<std::string>& files) {
  uint64_t size = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto found = std::filesystem::file_size(file, error);
    size += error ? 0 : found;
  }
  return size;
}

// The headings, one a line, as many of the first as fit.
std::string HeadingLines(const CorpusDocument& document) {
  std::string lines;
  for (const std::string& heading : document.headings) {
    if (lines.size() + heading.size() + 1 > kHeadingLinesSizeMax) break;
    if (heading.find('\n') != std::string::npos) continue;
    neptune::StrAppend(&lines, heading, "\n");
  }
  return lines;
}

class ReadStage {
 public:
  ReadStage(const BuildOptions& options, const BuildJournal& journal)
      : options_(options),
        journal_(journal),
        parser_(options.lines),
        contents_(XXH3_createState(), &XXH3_freeState),
        progress_({.label = "reading",
                   .unit = "KiB",
                   .total = SizeOnDisk(options.inputs) >> 10,
                   .out = options.progress_out,
                   .clock = options.clock}) {
    XXH3_64bits_reset(contents_.get());
  }

  StatusOr<BuildJournal::Facts> Run() {
    for (uint32_t p = 0; p < options_.partition_count; ++p) {
      NEPTUNE_ASSIGN_OR_RETURN(auto shard, SpoolWriter::Create(journal_.BuildPath(ShardName(p))));
      shards_.push_back(std::move(shard));
    }
    NEPTUNE_ASSIGN_OR_RETURN(auto links, SpoolWriter::Create(journal_.BuildPath(kLinksName)));
    links_ = std::make_unique<SpoolWriter>(std::move(links));
    for (const std::string& input : options_.inputs) NEPTUNE_RETURN_IF_ERROR(ReadInput(input));
    if (hashes_.empty()) {
      return InvalidArgument("no documents in the input (", bad_lines_, " bad lines)");
    }
    NEPTUNE_RETURN_IF_ERROR(Commit());
    return Facts();
  }

 private:
  Status ReadInput(const std::string& input) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(input));
    LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
    LineReader::Line line;
    uint64_t shown_kib = 0;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.Next(&line));
      if (!more) return OkStatus();
      if (line.number % kInterruptInterval == 0)
        NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
      const uint64_t read_kib = source->file_position() >> 10;
      if (read_kib > shown_kib) progress_.Add(read_kib - shown_kib);
      shown_kib = read_kib;
      NEPTUNE_RETURN_IF_ERROR(ParseLine(input, line));
    }
  }

  Status ParseLine(const std::string& input, const LineReader::Line& line) {
    if (line.text.empty() && !line.too_long) return OkStatus();
    if (line.too_long) return BadLine(input, line.number, "the line is too long");
    const auto document = parser_.Parse(line.text);
    if (!document.ok()) {
      return BadLine(input, line.number, neptune::ToStd(document.status().message()));
    }
    return ReadDocument(*document);
  }

  Status BadLine(const std::string& input, uint64_t number, std::string_view reason) {
    ++bad_lines_;
    const std::string message = StrCat(input, " line ", number, ": ", reason);
    if (options_.fail_on_bad_lines) return InvalidArgument(message);
    if (options_.report && bad_lines_ <= kReportedLinesMax) options_.report(message);
    return OkStatus();
  }

  Status ReadDocument(const CorpusDocument& document) {
    const UrlHash hash = HashUrl(document.url);
    if (!seen_.insert(hash).second) {
      ++duplicates_;
      return OkStatus();
    }
    const uint64_t doc_id = hashes_.size();
    if (doc_id == kDocumentsMax) {
      return neptune::ResourceExhausted("more than ", kDocumentsMax, " documents");
    }
    hashes_.push_back(hash);
    qualities_.push_back(DocumentQuality(document.title, document.text));
    record_.Clear();
    const std::string headings = HeadingLines(document);
    PutDocument({doc_id, document.url, document.title, document.text, document.site, headings,
                 document.public_url, document.structure, document.language, document.date},
                &record_);
    XXH3_64bits_update(contents_.get(), record_.bytes().data(), record_.bytes().size());
    NEPTUNE_RETURN_IF_ERROR(shards_[doc_id % shards_.size()].Append(record_.bytes()));
    return HandleLinks(doc_id, document);
  }

  // First a link without words, so that it counts even if it has no anchor text.
  Status HandleLinks(uint64_t doc_id, const CorpusDocument& document) {
    for (const std::string& link : document.links) {
      NEPTUNE_RETURN_IF_ERROR(PutLink(doc_id, link, ""));
    }
    for (const Anchor& anchor : document.anchors) {
      NEPTUNE_RETURN_IF_ERROR(PutLink(doc_id, anchor.target, anchor.text));
    }
    return OkStatus();
  }

  Status PutLink(uint64_t doc_id, std::string_view target, std::string_view text) {
    ++link_count_;
    record_.Clear();
    record_.PutNumber(doc_id);
    record_.PutHash(HashUrl(target));
    record_.PutText(text);
    XXH3_64bits_update(contents_.get(), record_.bytes().data(), record_.bytes().size());
    return links_->Append(record_.bytes());
  }

  Status Commit() {
    for (SpoolWriter& shard : shards_) NEPTUNE_RETURN_IF_ERROR(shard.Commit());
    NEPTUNE_RETURN_IF_ERROR(links_->Commit());
    NEPTUNE_RETURN_IF_ERROR(WriteWholeFile(journal_.BuildPath(kUrlsName), AsBytes(hashes_)));
    progress_.Finish();
    return WriteWholeFile(journal_.BuildPath(kQualitiesName), AsBytes(qualities_));
  }

  BuildJournal::Facts Facts() const {
    return {{"documents", hashes_.size()},
            {"links", link_count_},
            {"bad_lines", bad_lines_},
            {"duplicates", duplicates_},
            {"contents", XXH3_64bits_digest(contents_.get())}};
  }

  const BuildOptions& options_;
  const BuildJournal& journal_;
  JsonLineParser parser_;
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> contents_;
  Progress progress_;
  std::vector<SpoolWriter> shards_;
  std::unique_ptr<SpoolWriter> links_;
  absl::flat_hash_set<UrlHash> seen_;
  std::vector<UrlHash> hashes_;
  std::vector<float> qualities_;
  RecordWriter record_;
  uint64_t link_count_ = 0;
  uint64_t bad_lines_ = 0;
  uint64_t duplicates_ = 0;
};

}  // namespace

float DocumentQuality(std::string_view title, std::string_view text) {
  const double length = std::min(1.0, static_cast<double>(text.size()) / kFullTextSize);
  const double good_title = !title.empty() && title.size() <= kGoodTitleSizeMax ? 1 : 0;
  return static_cast<float>(0.8 * length + 0.2 * good_title);
}

std::string ShardName(uint32_t partition) { return StrCat("shard-", partition); }

StatusOr<BuildJournal::Facts> RunReadStage(const BuildOptions& options,
                                           const BuildJournal& journal) {
  return ReadStage(options, journal).Run();
}

}  // namespace search::tools
