#include "tools/corpus/converter.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
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
void TakeLinks(const std::vector<html::HtmlLink>& links, const std::string& path,
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

std::string NameWithoutExtension(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::string(name.substr(0, name.find('.')));
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
  TakeLinks(page->links, file.path, resolver, &converted);
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

Status ConvertLines(const std::string& file, JsonLineParser* parser, DocumentWriter* writer,
                    Progress* progress) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(file));
  LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
  LineReader::Line line;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader.Next(&line));
    if (!more) return OkStatus();
    if (line.text.empty() && !line.too_long) continue;
    progress->Add(1);
    StatusOr<CorpusDocument> document =
        line.too_long
            ? StatusOr<CorpusDocument>(neptune::InvalidArgument("longer than a line may be"))
            : parser->Parse(line.text);
    if (!document.ok()) {
      NEPTUNE_RETURN_IF_ERROR(writer->Bad(
          StrCat(file, " line ", line.number, ": ", neptune::ToStd(document.status().message()))));
      continue;
    }
    ConvertedPage page;
    page.document = *std::move(document);
    NEPTUNE_RETURN_IF_ERROR(writer->Take(std::move(page)));
  }
}

}  // namespace

StatusOr<ConvertCounts> ConvertTrees(
    const std::vector<PageTree>& trees,
    const std::vector<std::pair<std::string, std::string>>& public_places,
    const ConvertOptions& options, FileSink* sink) {
  NEPTUNE_ASSIGN_OR_RETURN(const PageList list, ListPages(trees));
  const LinkResolver resolver = MakeResolver(list, public_places);
  DocumentWriter writer(options, sink);
  Progress progress({.label = "converting",
                     .unit = "pages",
                     .total = list.pages.size(),
                     .out = options.progress_out,
                     .clock = options.clock});
  const auto make = [&](size_t index) {
    const PageFile& file = list.pages[index];
    return Convert(file, trees[file.tree_index], resolver, options.clock);
  };
  const auto take = [&](size_t, ConvertedPage page) {
    progress.Add(1);
    return writer.Take(std::move(page));
  };
  NEPTUNE_RETURN_IF_ERROR(OrderedParallel<ConvertedPage>(list.pages.size(), kWindow)
                              .Run(options.thread_count, make, take));
  progress.Finish();
  return writer.counts();
}

StatusOr<ConvertCounts> ConvertJsonLines(const std::vector<std::string>& files,
                                         const JsonLinesOptions& lines,
                                         const ConvertOptions& options, FileSink* sink) {
  DocumentWriter writer(options, sink);
  JsonLineParser parser(lines);
  Progress progress({.label = "converting",
                     .unit = "lines",
                     .total = 0,
                     .out = options.progress_out,
                     .clock = options.clock});
  for (const std::string& file : files) {
    NEPTUNE_RETURN_IF_ERROR(ConvertLines(file, &parser, &writer, &progress));
  }
  progress.Finish();
  return writer.counts();
}

}  // namespace search::tools
