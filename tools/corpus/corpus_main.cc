// The program //tools:corpus: fetches and converts a corpus to JSON Lines.

#include <gflags/gflags.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "tools/corpus/converter.h"
#include "tools/corpus/dump_converter.h"
#include "tools/corpus/manifest.h"
#include "tools/corpus/package_cache.h"
#include "tools/streams/byte_source.h"
#include "tools/terminal/caller_path.h"
#include "tools/terminal/command_line.h"

DEFINE_string(manifest, "small",
              "list of Debian documentation packages: a file, or the name of one in "
              "data/corpora; used unless --input is given");
DEFINE_string(input, "",
              "instead of packages: a folder of pages, or files of JSON Lines (plain, .gz, .zst; "
              "\"-\" is standard input), separated by commas");
DEFINE_string(format, "",
              "what --input holds: html, markdown, man, jsonl, wikipedia (an XML dump) or trec "
              "(<DOC>...), the "
              "last two plain, .gz, .bz2 or .zst; default: derived from the file name");
DEFINE_string(name, "",
              "with a folder: its name in urls, doc:NAME/path; the folder's own name by default");
DEFINE_string(site, "", "with --input: the site that `site:` queries find; NAME by default");
DEFINE_string(id_url_prefix, "id:", "with jsonl: put before `id` where an object has no `url`");
DEFINE_string(
    url_prefix, "",
    "with wikipedia and trec: put before a title or DOCNO to make the url; by default the "
    "dump's own address, or \"trec:\"");
DEFINE_bool(all_namespaces, false, "with wikipedia: also pages that are not articles");
DEFINE_string(out, "",
              "output file, compressed if it ends in .zst or .gz; default: "
              "data/var/corpora/NAME.jsonl.zst of the source tree");
DEFINE_string(cache, "",
              "folder of downloads and unpacked packages; default: data/var/packages of the "
              "source tree");
DEFINE_int32(threads, 2, "number of threads that convert pages, 1 to 64");
DEFINE_bool(strict, false, "stop at the first bad line or page instead of counting it");

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kUsage[] =
    "Fetches and converts a corpus to JSON Lines, one page per line.\n\n"
    "  bazel run //tools:corpus                       documentation packages: the small set\n"
    "  bazel run //tools:corpus -- --manifest=full    all documentation packages\n"
    "  bazel run //tools:corpus -- --input=site/ --out=site.jsonl\n"
    "  bazel run //tools:corpus -- --input=/usr/share/man --format=man --out=man.jsonl.zst\n"
    "  bazel run //tools:corpus -- --input=articles.jsonl.zst --site=wikipedia "
    "--out=a.jsonl.zst\n"
    "  bazel run //tools:corpus -- --input=enwiki-pages-articles.xml.bz2 --out=enwiki.jsonl.zst\n"
    "  bazel run //tools:corpus -- --input=a.gz,b.gz --format=trec --site=news "
    "--out=news.jsonl.zst\n\n"
    "Packages that were already fetched are not fetched again. Bad pages and lines are counted, "
    "and the\n"
    "first ones are reported. The output gets its name only when it is complete. A conversion "
    "that\n"
    "was killed continues when the program is started again.";

void Report(const std::string& message) { fprintf(stderr, "%s\n", message.c_str()); }

struct Corpus {
  std::string name;
  std::vector<PageTree> trees;
  std::vector<std::pair<std::string, std::string>> public_places;
  std::vector<std::string> line_files;
  std::string dump_format;
  std::vector<std::string> dump_files;
};

// What the manifest says about the addresses of the pages of the first root.
PublicPages PublicPagesOf(const ManifestPackage& package) {
  if (package.public_urls.empty()) return {};
  return {.url_prefix = package.public_urls[0],
          .folder = package.public_root,
          .omitted_suffix = package.public_omits,
          .exclude = package.public_exclude};
}

void AddPackage(const ManifestPackage& package, const std::string& folder, Corpus* corpus) {
  for (const ManifestRoot& root : package.roots) {
    const bool is_first = &root == &package.roots[0];
    corpus->trees.push_back(
        {.folder = StrCat(folder, "/", root.path),
         .path_prefix = "/" + root.path,
         .url_prefix = StrCat("doc:", package.package, "/", root.as, root.as.empty() ? "" : "/"),
         .site = package.site,
         .kinds = {PageKind::kHtml, PageKind::kMarkdown, PageKind::kMan},
         .include = root.include,
         .exclude = root.exclude,
         .title_suffixes = package.title_suffixes,
         .public_pages = is_first ? PublicPagesOf(package) : PublicPages()});
  }
  for (const std::string& url : package.public_urls) {
    corpus->public_places.emplace_back(url,
                                       StrCat("/", package.roots[0].path, "/", package.public_root,
                                              package.public_root.empty() ? "" : "/"));
  }
}

StatusOr<Corpus> FromPackages() {
  const bool is_name = FLAGS_manifest.find_first_of("/.") == std::string::npos;
  const std::string file =
      ProjectPath(is_name ? StrCat("data/corpora/", FLAGS_manifest, ".json") : FLAGS_manifest);
  NEPTUNE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file, kManifestSizeMax));
  auto manifest = ParseManifest(text);
  if (!manifest.ok()) return neptune::Annotate(manifest.status(), file);
  std::vector<std::string> names;
  for (const ManifestPackage& package : manifest->packages) names.push_back(package.package);
  const std::string cache =
      FLAGS_cache.empty() ? ProjectOutputPath("data/var/packages") : CallerPath(FLAGS_cache);
  PackageCache packages(cache, &MonotonicNanoseconds, &Report);
  NEPTUNE_ASSIGN_OR_RETURN(const auto folders, packages.Provide(names));
  Corpus corpus;
  corpus.name = fs::path(file).stem().string();
  for (size_t i = 0; i < folders.size(); ++i) {
    AddPackage(manifest->packages[i], folders[i], &corpus);
  }
  return corpus;
}

std::string GuessFormat(const std::vector<std::string>& inputs) {
  if (!FLAGS_format.empty()) return FLAGS_format;
  if (fs::is_directory(inputs[0])) return "html";
  return inputs[0].find("pages-articles") == std::string::npos ? "jsonl" : "wikipedia";
}

StatusOr<Corpus> FromInput() {
  std::vector<std::string> inputs;
  for (const std::string& input : SplitList(FLAGS_input)) inputs.push_back(CallerPath(input));
  if (inputs.empty()) return InvalidArgument("--input names no files");
  const std::string format = GuessFormat(inputs);
  fs::path first(inputs[0]);
  if (first.filename().empty()) first = first.parent_path();
  Corpus corpus;
  corpus.name = FLAGS_name.empty() ? first.stem().string() : FLAGS_name;
  if (format == "jsonl") {
    corpus.line_files = inputs;
    return corpus;
  }
  if (format == "wikipedia" || format == "trec") {
    corpus.dump_format = format;
    corpus.dump_files = inputs;
    return corpus;
  }
  PageTree tree;
  tree.folder = inputs[0];
  tree.path_prefix = "/" + corpus.name;
  tree.url_prefix = StrCat("doc:", corpus.name, "/");
  tree.site = FLAGS_site.empty() ? corpus.name : FLAGS_site;
  if (inputs.size() != 1) return InvalidArgument("--input takes one folder, or JSON Lines files");
  if (format == "markdown") {
    tree.kinds = {PageKind::kMarkdown};
  } else if (format == "man") {
    tree.kinds = {PageKind::kMan};
  } else if (format != "html") {
    return InvalidArgument("--format=", format,
                           ": known are html, markdown, man, jsonl, wikipedia and trec");
  }
  corpus.trees.push_back(std::move(tree));
  return corpus;
}

Status RunDumps(const Corpus& corpus, const std::string& out, const ConvertOptions& options) {
  DumpJob job{.files = corpus.dump_files, .format = corpus.dump_format, .dump = {}, .out = out};
  job.dump.url_prefix =
      FLAGS_url_prefix.empty() && job.format == "trec" ? "trec:" : FLAGS_url_prefix;
  job.dump.site = FLAGS_site.empty() ? corpus.name : FLAGS_site;
  job.dump.all_namespaces = FLAGS_all_namespaces;
  NEPTUNE_ASSIGN_OR_RETURN(const ConvertCounts counts, ConvertDumps(job, options));
  Report(StrCat(out, ": ", Summary(counts)));
  return neptune::OkStatus();
}

Status Run() {
  if (FLAGS_threads < 1 || FLAGS_threads > 64) return InvalidArgument("--threads: 1 to 64");
  NEPTUNE_ASSIGN_OR_RETURN(const Corpus corpus, FLAGS_input.empty() ? FromPackages() : FromInput());
  const std::string out =
      FLAGS_out.empty() ? ProjectOutputPath(StrCat("data/var/corpora/", corpus.name, ".jsonl.zst"))
                        : CallerPath(FLAGS_out);
  const ConvertOptions options{.thread_count = FLAGS_threads,
                               .fail_on_bad_input = FLAGS_strict,
                               .clock = &MonotonicNanoseconds,
                               .progress_out = stderr,
                               .report = &Report};
  if (!corpus.dump_files.empty()) return RunDumps(corpus, out, options);
  const JsonLinesOptions lines{.id_url_prefix = FLAGS_id_url_prefix, .default_site = FLAGS_site};
  NEPTUNE_ASSIGN_OR_RETURN(
      const ConvertCounts counts,
      corpus.trees.empty()
          ? ConvertJsonLinesInParts(corpus.line_files, lines, options, {.out = out})
          : ConvertTreesInParts(corpus.trees, corpus.public_places, options, {.out = out}));
  Report(StrCat(out, ": ", Summary(counts)));
  return neptune::OkStatus();
}

}  // namespace
}  // namespace search::tools

int main(int argc, char** argv) {
  const auto rest = search::tools::ParseCommandLine(&argc, &argv, search::tools::kUsage, __FILE__);
  if (!rest.empty()) {
    fprintf(stderr, "corpus: unexpected argument '%s'; try --help\n", rest[0].c_str());
    return 2;
  }
  return search::tools::ExitStatus(search::tools::Run(), "corpus");
}
