#include "tools/corpus/converter.h"

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "index/html/document_structure.h"
#include "neptune/base/strings.h"
#include "tools/corpus/ordered_parallel.h"
#include "tools/corpus/page_reader.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kWindow = 256;

std::string CutTitle(std::string title, const std::vector<std::string>& suffixes) {
  for (const std::string& suffix : suffixes) {
    if (title.size() > suffix.size() && title.ends_with(suffix)) {
      title.resize(title.size() - suffix.size());
      return title;
    }
  }
  return title;
}

// Resolves the page's links; each target once, every text that leads to it as an anchor.
void CollectLinks(const std::vector<html::HtmlLink>& links, const std::string& path,
                  const LinkResolver& resolver, ConvertedPage* page) {
  CorpusDocument& document = page->document;
  absl::flat_hash_set<std::string_view> seen;
  for (const html::HtmlLink& link : links) {
    const auto target = resolver.Resolve(path, link.href);
    if (!target) {
      ++page->outside_links;
      continue;
    }
    if (*target == document.url) continue;
    if (seen.insert(*target).second) document.links.emplace_back(*target);
    Anchor anchor{std::string(*target), link.text};
    const bool known = std::find(document.anchors.begin(), document.anchors.end(), anchor) !=
                       document.anchors.end();
    if (!anchor.text.empty() && !known) document.anchors.push_back(std::move(anchor));
  }
}

// What a page's links lead to, in its structure: pages of the corpus by url, other places by their
// address on the Web.
class TargetFinder {
 public:
  TargetFinder(const PageFile& file, const PageTree& tree, const LinkResolver& resolver)
      : file_(file), tree_(tree), resolver_(resolver) {}

  std::optional<std::string> operator()(const std::string& href) const {
    if (const auto url = resolver_.Resolve(file_.path, href)) return std::string(*url);
    if (href.starts_with("//")) return StrCat("https:", href);
    if (html::IsWebTarget(href)) return href;
    const auto path = ResolvePath(file_.path, href);
    const std::string prefix = StrCat(tree_.path_prefix, "/");
    if (!path || !path->starts_with(prefix) || !path->ends_with(".html")) return std::nullopt;
    std::string address =
        PublicAddress(tree_.public_pages, std::string_view(*path).substr(prefix.size()));
    if (address.empty()) return std::nullopt;
    const size_t fragment = href.find('#');
    return fragment == std::string::npos ? address : address + href.substr(fragment);
  }

 private:
  const PageFile& file_;
  const PageTree& tree_;
  const LinkResolver& resolver_;
};

std::string NameWithoutExtension(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::string(name.substr(0, name.find('.')));
}

std::string_view InsidePath(const PageFile& file, const PageTree& tree) {
  const std::string_view path = file.path;
  return path.substr(std::min(path.size(), tree.path_prefix.size() + 1));
}

ConvertedPage Convert(const PageFile& file, const PageTree& tree, const LinkResolver& resolver,
                      const NanosecondClock& clock) {
  ConvertedPage converted;
  auto page = ReadPage(file.file, file.kind, clock);
  if (!page.ok()) {
    converted.status = page.status();
    return converted;
  }
  converted.is_redirect = page->is_redirect;
  converted.is_cut = page->is_cut;
  CorpusDocument& document = converted.document;
  document.url = file.url;
  document.site = tree.site;
  document.title = CutTitle(std::move(page->title), tree.title_suffixes);
  if (document.title.empty()) document.title = NameWithoutExtension(file.path);
  document.headings = std::move(page->headings);
  document.text = std::move(page->text);
  document.public_url = PublicAddress(tree.public_pages, InsidePath(file, tree));
  html::ResolveTargets(TargetFinder(file, tree, resolver), &page->structure);
  document.structure = html::EncodeStructure(page->structure);
  CollectLinks(page->links, file.path, resolver, &converted);
  return converted;
}

LinkResolver MakeResolver(const PageList& list,
                          const std::vector<std::pair<std::string, std::string>>& public_places) {
  LinkResolver resolver;
  for (const PageFile& page : list.pages) resolver.AddPage(page.path, page.url);
  for (const PageAlias& alias : list.aliases) {
    if (const auto url = resolver.Resolve("/", alias.target_path)) {
      resolver.AddPage(alias.path, std::string(*url));
    }
  }
  for (const auto& [url_prefix, path_prefix] : public_places) {
    resolver.AddPublicPlace(url_prefix, path_prefix);
  }
  return resolver;
}

// One run into one file: whole, or in parts that follow those of earlier runs.
class Run {
 public:
  Run(const ConvertOptions& options, FileSink* sink) : options_(options), writer_(options, sink) {}

  Status OpenParts(const PartedFile& file, const std::string& job) {
    part_pages_ = file.part_pages;
    NEPTUNE_ASSIGN_OR_RETURN(
        parts_, PartedOutput::Open(file.out, StrCat(job, file.part_pages, "\n"), &writer_));
    done_ = writer_.counts().pages;
    if (done_ > 0 && options_.report) {
      options_.report(
          StrCat("continuing after ", WithThousands(done_), " documents of an earlier run"));
    }
    return OkStatus();
  }

  // Pages of earlier runs.
  uint64_t done() const { return done_; }
  uint64_t passed() const { return passed_; }
  // True if the next page is one of them; the page is then skipped.
  bool PassDone() { return passed_ < done_ && ++passed_ > 0; }
  // The next page.
  Status Take(ConvertedPage page) {
    NEPTUNE_RETURN_IF_ERROR(writer_.Take(std::move(page)));
    return Passed();
  }
  Status Bad(const std::string& reason) {
    NEPTUNE_RETURN_IF_ERROR(writer_.Bad(reason));
    return Passed();
  }

  StatusOr<ConvertCounts> Finish() {
    if (parts_ == nullptr) return writer_.counts();
    if (passed_ < done_) return neptune::DataLoss("the input is shorter than in the earlier run");
    if (writer_.counts().written == 0) {
      return neptune::InvalidArgument("the input has no page with enough text; ",
                                      Summary(writer_.counts()));
    }
    NEPTUNE_RETURN_IF_ERROR(parts_->Commit());
    return writer_.counts();
  }

 private:
  Status Passed() {
    ++passed_;
    if (parts_ == nullptr || passed_ % part_pages_ != 0) return OkStatus();
    return parts_->NextPart();
  }

  const ConvertOptions& options_;
  DocumentWriter writer_;
  std::unique_ptr<PartedOutput> parts_;
  uint64_t part_pages_ = 0;
  uint64_t done_ = 0;
  uint64_t passed_ = 0;
};

Status ConvertPages(const PageList& list, const std::vector<PageTree>& trees,
                    const std::vector<std::pair<std::string, std::string>>& public_places,
                    const ConvertOptions& options, Run* run) {
  const LinkResolver resolver = MakeResolver(list, public_places);
  Progress progress({.label = "converting",
                     .unit = "pages",
                     .total = list.pages.size(),
                     .out = options.progress_out,
                     .clock = options.clock});
  while (run->passed() < list.pages.size() && run->PassDone()) progress.Add(1);
  const size_t first = run->passed();
  const auto make = [&](size_t index) {
    const PageFile& file = list.pages[first + index];
    return Convert(file, trees[file.tree_index], resolver, options.clock);
  };
  const auto take = [&](size_t, ConvertedPage page) {
    progress.Add(1);
    return run->Take(std::move(page));
  };
  NEPTUNE_RETURN_IF_ERROR(OrderedParallel<ConvertedPage>(list.pages.size() - first, kWindow)
                              .Run(options.thread_count, make, take));
  progress.Finish();
  return OkStatus();
}

Status ConvertLines(const std::string& file, JsonLineParser* parser, Run* run, Progress* progress) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(file));
  LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
  LineReader::Line line;
  uint64_t shown_kib = 0;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.Next(&line));
    const uint64_t read_kib = source->file_position() >> 10;
    progress->Add(read_kib - shown_kib);
    shown_kib = read_kib;
    if (!more) return OkStatus();
    if ((line.text.empty() && !line.too_long) || run->PassDone()) continue;
    StatusOr<CorpusDocument> document =
        line.too_long ? StatusOr<CorpusDocument>(neptune::InvalidArgument("the line is too long"))
                      : parser->Parse(line.text);
    if (!document.ok()) {
      NEPTUNE_RETURN_IF_ERROR(run->Bad(
          StrCat(file, " line ", line.number, ": ", neptune::ToStd(document.status().message()))));
      continue;
    }
    ConvertedPage page;
    page.document = *std::move(document);
    NEPTUNE_RETURN_IF_ERROR(run->Take(std::move(page)));
  }
}

Status ConvertFiles(const std::vector<std::string>& files, const JsonLinesOptions& lines,
                    const ConvertOptions& options, Run* run) {
  JsonLineParser parser(lines);
  uint64_t size = 0;
  for (const std::string& file : files) size += SizeOfInput(file);
  Progress progress({.label = "converting",
                     .unit = "KiB",
                     .total = size >> 10,
                     .out = options.progress_out,
                     .clock = options.clock,
                     .note = [run] { return StrCat(WithThousands(run->passed()), " documents"); }});
  for (const std::string& file : files) {
    NEPTUNE_RETURN_IF_ERROR(ConvertLines(file, &parser, run, &progress));
  }
  progress.Finish();
  return OkStatus();
}

// Job name: two runs with the same name produce the same file. Pages are hashed because there may
// be many.
std::string JobOfTrees(const PageList& list, const std::vector<PageTree>& trees,
                       const std::vector<std::pair<std::string, std::string>>& public_places,
                       const ConvertOptions& options) {
  std::string marks;
  for (const PageFile& page : list.pages) {
    neptune::StrAppend(&marks, page.path, "\n", page.url, "\n", MarkOfInput(page.file));
  }
  for (const PageAlias& alias : list.aliases) {
    neptune::StrAppend(&marks, alias.path, "\n", alias.target_path, "\n");
  }
  for (const PageTree& tree : trees) {
    neptune::StrAppend(&marks, tree.site, "\n");
    for (const std::string& suffix : tree.title_suffixes) {
      neptune::StrAppend(&marks, " ", suffix, "\n");
    }
    const PublicPages& there = tree.public_pages;
    neptune::StrAppend(&marks, there.url_prefix, "\n", there.folder, "\n", there.omitted_suffix);
    for (const std::string& glob : there.exclude) neptune::StrAppend(&marks, "\n  ", glob);
  }
  for (const auto& [url, path] : public_places) neptune::StrAppend(&marks, url, "\n", path, "\n");
  const XXH128_hash_t hash = XXH3_128bits(marks.data(), marks.size());
  return StrCat("neptune-corpus 2 pages ", list.pages.size(), " ", hash.high64, " ", hash.low64,
                " ", options.text_size_min, "\n");
}

std::string JobOfLines(const std::vector<std::string>& files, const JsonLinesOptions& lines,
                       const ConvertOptions& options) {
  std::string job = StrCat("neptune-corpus 1 jsonl\n", lines.id_url_prefix, "\n",
                           lines.default_site, "\n", options.text_size_min, "\n");
  for (const std::string& file : files) neptune::StrAppend(&job, MarkOfInput(file));
  return job;
}

}  // namespace

StatusOr<ConvertCounts> ConvertTrees(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, FileSink* sink) {
  NEPTUNE_ASSIGN_OR_RETURN(const PageList list, ListPages(trees));
  Run run(options, sink);
  NEPTUNE_RETURN_IF_ERROR(ConvertPages(list, trees, public_places, options, &run));
  return run.Finish();
}

StatusOr<ConvertCounts> ConvertTreesInParts(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, const PartedFile& file) {
  NEPTUNE_ASSIGN_OR_RETURN(const PageList list, ListPages(trees));
  Run run(options, nullptr);
  NEPTUNE_RETURN_IF_ERROR(run.OpenParts(file, JobOfTrees(list, trees, public_places, options)));
  NEPTUNE_RETURN_IF_ERROR(ConvertPages(list, trees, public_places, options, &run));
  return run.Finish();
}

StatusOr<ConvertCounts> ConvertJsonLines(const std::vector<std::string>& files,
                                         const JsonLinesOptions& lines,
                                         const ConvertOptions& options, FileSink* sink) {
  Run run(options, sink);
  NEPTUNE_RETURN_IF_ERROR(ConvertFiles(files, lines, options, &run));
  return run.Finish();
}

StatusOr<ConvertCounts> ConvertJsonLinesInParts(const std::vector<std::string>& files,
                                                const JsonLinesOptions& lines,
                                                const ConvertOptions& options,
                                                const PartedFile& file) {
  Run run(options, nullptr);
  NEPTUNE_RETURN_IF_ERROR(run.OpenParts(file, JobOfLines(files, lines, options)));
  NEPTUNE_RETURN_IF_ERROR(ConvertFiles(files, lines, options, &run));
  return run.Finish();
}

}  // namespace search::tools
