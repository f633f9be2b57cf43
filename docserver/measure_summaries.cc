// Measures what the summaries of result pages cost, with a store and questions of one's own, and
// compares them with those of a maker that analyses whole texts:
// measure_summaries --stores=DIR,DIR --pages=FILE [--implementation=NAME] [--rounds=N] [--compare]
//
// DIR,DIR: the folders of the collection's document partitions, in order. A line of FILE is a
// question, a tab, and the numbers of the page's documents, separated by blanks.

#include <gflags/gflags.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "docserver/document_service.h"
#include "docserver/registry.h"
#include "docserver/snippet/snippet.h"
#include "docserver/snippet/snippet_checks.h"
#include "index/core/query/query.h"

DEFINE_string(stores, "", "folders of the document partitions, separated by commas");
DEFINE_string(implementation, "rocksdb", "variant of the stores");
DEFINE_string(pages, "", "file of questions and documents");
DEFINE_int32(rounds, 3, "how often all pages are made; the first time is not measured");
DEFINE_bool(compare, false, "count summaries that differ from those of a whole analysis");
DEFINE_int32(shown, 5, "number of different summaries that are printed");

namespace search::docserver {
namespace {

using Pieces = google::protobuf::RepeatedPtrField<SnippetPiece>;

struct Page {
  std::string canonical_query;
  std::vector<uint64_t> doc_ids;
};

std::vector<Page> ReadPages(const std::string& path) {
  std::vector<Page> pages;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t tab = line.find('\t');
    const auto question = index::ParseQuestion(line.substr(0, tab));
    if (tab == std::string::npos || !question.ok()) continue;
    Page page = {.canonical_query = index::Canonical(*question)};
    std::istringstream ids(line.substr(tab));
    for (uint64_t id = 0; ids >> id;) page.doc_ids.push_back(id);
    pages.push_back(std::move(page));
  }
  return pages;
}

std::vector<std::unique_ptr<DocumentStore>> OpenStores() {
  std::vector<std::unique_ptr<DocumentStore>> stores;
  std::istringstream names(FLAGS_stores);
  for (std::string name; std::getline(names, name, ',');) {
    auto store = OpenDocumentStore(FLAGS_implementation, name, {});
    if (!store.ok()) std::cerr << store.status() << "\n";
    if (!store.ok()) std::exit(1);
    stores.push_back(*std::move(store));
  }
  return stores;
}

double ProcessorMicroseconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Processor times of one kind of work.
class Times {
 public:
  explicit Times(const char* name) : name_(name) {}

  template <typename Work>
  void Measure(const Work& work) {
    const double begin = ProcessorMicroseconds();
    work();
    times_.push_back(ProcessorMicroseconds() - begin);
  }
  void Clear() { times_.clear(); }

  void Print() {
    std::sort(times_.begin(), times_.end());
    double sum = 0;
    for (const double time : times_) sum += time;
    if (times_.empty()) return;
    const auto quantile = [&](double share) {
      return times_[static_cast<size_t>(share * static_cast<double>(times_.size() - 1))];
    };
    std::printf("%-10s %8zu times, us: mean %7.2f p50 %7.2f p90 %7.2f p99 %8.2f max %9.2f\n", name_,
                times_.size(), sum / static_cast<double>(times_.size()), quantile(.5), quantile(.9),
                quantile(.99), times_.back());
  }

 private:
  const char* const name_;
  std::vector<double> times_;
};

struct Totals {
  size_t summaries = 0;
  size_t different = 0;
  size_t text_size = 0;
};

class Measurement {
 public:
  Measurement(std::vector<Page> pages, std::vector<std::unique_ptr<DocumentStore>> stores)
      : pages_(std::move(pages)), stores_(std::move(stores)) {}

  void Run() {
    for (int round = 0; round < FLAGS_rounds; ++round) {
      if (round <= 1) Clear();
      for (const Page& page : pages_) MakePage(page);
    }
    Print();
  }

 private:
  void Clear() {
    for (Times* times : {&read_, &parse_, &make_, &analyse_, &all_}) times->Clear();
    totals_ = {};
  }

  void Print() {
    for (Times* times : {&read_, &parse_, &make_, &analyse_, &all_}) times->Print();
    std::printf("%zu summaries of %.0f bytes of text, %zu different\n", totals_.summaries,
                static_cast<double>(totals_.text_size) /
                    static_cast<double>(std::max<size_t>(totals_.summaries, 1)),
                totals_.different);
  }

  void MakePage(const Page& page) {
    FetchedDocuments documents;
    all_.Measure([&] {
      read_.Measure([&] { documents = Read(page.doc_ids); });
      parse_.Measure([&] {
        query_ = *index::ParseQuery(page.canonical_query, index::ParseLimits::ForCanonical());
        terms_ = std::make_unique<QueryTerms>(query_);
      });
      for (const auto& document : documents) {
        if (document) make_.Measure([&] { maker_.Make(document->text(), *terms_, {}, &made_); });
      }
    });
    for (const auto& document : documents) {
      if (document) Count(*document);
    }
  }

  FetchedDocuments Read(const std::vector<uint64_t>& doc_ids) const {
    FetchedDocuments documents;
    for (size_t i = 0; i < stores_.size(); ++i) {
      std::vector<uint64_t> ids;
      for (const uint64_t id : doc_ids) {
        if (PartitionOfDocument(id, static_cast<uint32_t>(stores_.size())) == i) ids.push_back(id);
      }
      auto fetched = stores_[i]->Fetch(ids);
      if (!fetched.ok()) std::cerr << fetched.status() << "\n";
      if (!fetched.ok()) continue;
      std::move(fetched->begin(), fetched->end(), std::back_inserter(documents));
    }
    return documents;
  }

  void Count(const StoredDocument& document) {
    ++totals_.summaries;
    totals_.text_size += document.text().size();
    if (!FLAGS_compare) return;
    maker_.Make(document.text(), *terms_, {}, &made_);
    analyse_.Measure([&] { analysing_.Make(document.text(), *terms_, {}, &analysed_); });
    const std::string difference = Difference(made_, analysed_);
    if (difference.empty()) return;
    if (++totals_.different > static_cast<size_t>(FLAGS_shown)) return;
    std::cout << index::Canonical(query_) << " in " << document.doc_id() << ":\n"
              << difference << "\n";
  }

  const std::vector<Page> pages_;
  const std::vector<std::unique_ptr<DocumentStore>> stores_;
  SnippetMaker maker_;
  SnippetMaker analysing_{MatchScan::Method::kAnalyseText};
  index::Query query_;  // of the page
  std::unique_ptr<QueryTerms> terms_;
  Pieces made_;
  Pieces analysed_;
  Totals totals_;
  Times read_{"read page"};
  Times parse_{"parse"};
  Times make_{"make"};
  Times analyse_{"analyse"};
  Times all_{"page"};
};

}  // namespace
}  // namespace search::docserver

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  namespace docserver = search::docserver;
  docserver::Measurement(docserver::ReadPages(FLAGS_pages), docserver::OpenStores()).Run();
  return 0;
}
