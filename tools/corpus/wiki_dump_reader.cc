#include "tools/corpus/wiki_dump_reader.h"

#include <expat.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "index/html/utf8.h"
#include "neptune/base/strings.h"
#include "neptune/base/utf8.h"
#include "tools/corpus/wikitext.h"

namespace search::tools {
namespace {

using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kBlockSize = size_t{64} << 10;
constexpr size_t kFieldSizeMax = 4096;
// Namespaces of files and categories, by their numbers in the dump.
constexpr std::string_view kFileKey = "6";
constexpr std::string_view kCategoryKey = "14";

struct RawPage {
  std::string title;
  std::string space = "0";
  std::string text;
  bool is_redirect = false;
  bool is_cut = false;
};

// Collects expat's events into pages.
class PageGatherer {
 public:
  std::deque<RawPage> pages;
  std::string base;  // address of the main page
  std::vector<std::string> hidden_prefixes = {"file", "image", "category", "media"};
  XML_Parser parser = nullptr;
  std::string refusal;

  // Stops the parse at the current position.
  void Refuse(const char* why) {
    refusal = why;
    XML_StopParser(parser, XML_FALSE);
  }

  void Start(std::string_view name, const XML_Char** attributes) {
    path_.push_back(std::string(name));
    if (path_.size() > kDepthMax) return Refuse("elements are nested too deeply");
    if (name == "page") page_ = {};
    if (name == "redirect") page_.is_redirect = true;
    if (name == "namespace") {
      const std::string_view key = Attribute(attributes, "key");
      is_hidden_space_ = key == kFileKey || key == kCategoryKey;
    }
    field_.clear();
    target_ = TargetOf(name);
  }

  void End(std::string_view name) {
    if (name == "namespace" && is_hidden_space_ && !field_.empty()) AddHiddenPrefix();
    if (name == "base") base = field_;
    if (name == "title") page_.title = field_;
    if (name == "ns") page_.space = field_;
    if (name == "page") pages.push_back(std::exchange(page_, {}));
    if (!path_.empty()) path_.pop_back();
    target_ = nullptr;
  }

  void Text(std::string_view text) {
    if (target_ == nullptr) return;
    const size_t size_max = target_ == &page_.text ? kWikitextSizeMax : kFieldSizeMax;
    const size_t room = size_max - std::min(size_max, target_->size());
    if (text.size() > room && target_ == &page_.text) page_.is_cut = true;
    target_->append(text.substr(0, room));
  }

 private:
  static std::string_view Attribute(const XML_Char** attributes, std::string_view name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (attributes[0] == name) return attributes[1];
    }
    return {};
  }

  std::string* TargetOf(std::string_view name) {
    if (name == "text") {
      page_.text.clear();  // of the last revision
      return &page_.text;
    }
    const bool is_field = name == "title" || name == "ns" || name == "base" || name == "namespace";
    return is_field ? &field_ : nullptr;
  }

  void AddHiddenPrefix() {
    std::string prefix = field_.substr(0, CorpusLimits::kSiteSizeMax);
    for (char& c : prefix) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    if (hidden_prefixes.size() < 64) hidden_prefixes.push_back(std::move(prefix));
  }

  std::vector<std::string> path_;
  RawPage page_;
  std::string field_;
  std::string* target_ = nullptr;
  bool is_hidden_space_ = false;
};

PageGatherer& Of(void* user) { return *static_cast<PageGatherer*>(user); }

class WikiDumpReader : public DumpReader {
 public:
  WikiDumpReader(ByteSource* source, DumpOptions options)
      : source_(source),
        options_(std::move(options)),
        parser_(XML_ParserCreate("UTF-8"), &XML_ParserFree) {
    gatherer_.parser = parser_.get();
    XML_SetUserData(parser_.get(), &gatherer_);
    XML_SetElementHandler(
        parser_.get(),
        [](void* user, const XML_Char* name, const XML_Char** attributes) {
          Of(user).Start(name, attributes);
        },
        [](void* user, const XML_Char* name) { Of(user).End(name); });
    XML_SetCharacterDataHandler(parser_.get(), [](void* user, const XML_Char* text, int size) {
      Of(user).Text({text, static_cast<size_t>(size)});
    });
    // Reject entities, which can expand without limit.
    XML_SetDoctypeDeclHandler(
        parser_.get(),
        [](void* user, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          Of(user).Refuse("the file declares a document type");
        },
        [](void*) {});
  }

  StatusOr<bool> Next(bool is_wanted, ConvertedPage* page) override {
    // Return the pages before an error first.
    while (gatherer_.pages.empty() && !ended_ && status_.ok()) status_ = ParseBlock();
    if (gatherer_.pages.empty()) {
      NEPTUNE_RETURN_IF_ERROR(status_);
      return false;
    }
    const RawPage raw = std::move(gatherer_.pages.front());
    gatherer_.pages.pop_front();
    *page = {};
    if (is_wanted) Convert(raw, page);
    return true;
  }

 private:
  Status ParseBlock() {
    char block[kBlockSize];
    NEPTUNE_ASSIGN_OR_RETURN(const size_t size, source_->Read(block, sizeof(block)));
    ended_ = size == 0;
    const XML_Status status =
        XML_Parse(parser_.get(), block, static_cast<int>(size), ended_ ? XML_TRUE : XML_FALSE);
    fed_ += size;
    const auto at =
        static_cast<uint64_t>(std::max<XML_Index>(0, XML_GetCurrentByteIndex(parser_.get())));
    if (gatherer_.refusal.empty() && status == XML_STATUS_ERROR) {
      gatherer_.refusal = XML_ErrorString(XML_GetErrorCode(parser_.get()));
    }
    if (gatherer_.refusal.empty() && !ended_ &&
        fed_ - std::min(fed_, at) > kTagSizeMax + kBlockSize) {
      gatherer_.refusal = "a tag is too long";
    }
    if (gatherer_.refusal.empty()) return neptune::OkStatus();
    return neptune::DataLoss("wikipedia dump, near byte ", at, ": ", gatherer_.refusal);
  }

  std::string Url(std::string_view title) {
    if (prefix_.empty()) {
      prefix_ = !options_.url_prefix.empty() ? options_.url_prefix
                : gatherer_.base.find('/') != std::string::npos
                    ? gatherer_.base.substr(0, gatherer_.base.rfind('/') + 1)
                    : "wiki:";
    }
    std::string url = prefix_;
    for (const char c : title) {
      static constexpr char kHex[] = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      if (c == ' ') {
        url.push_back('_');
      } else if (byte < 33 || byte == 127 ||
                 std::string_view("%?#\"<>[]|{}\\^`").find(c) != std::string_view::npos) {
        url += {'%', kHex[byte >> 4], kHex[byte & 15]};
      } else {
        url.push_back(c);
      }
    }
    return url;
  }

  void Convert(const RawPage& raw, ConvertedPage* page) {
    page->is_redirect = raw.is_redirect;
    page->is_other = raw.space != "0" && !options_.all_namespaces;
    if (page->is_redirect || page->is_other) return;
    CorpusDocument& document = page->document;
    const std::string title = WikiTitle(raw.title);
    document.title = neptune::TruncateUtf8(title, CorpusLimits::kTitleSizeMax);
    document.url = Url(title);
    if (title.empty() || document.url.size() > CorpusLimits::kUrlSizeMax) {
      page->status = neptune::InvalidArgument("page '", document.title,
                                              "': the title is not usable as a name");
      return;
    }
    document.site = options_.site;
    // A cut text may end within a character.
    PlainWikitext plain =
        raw.is_cut ? ReadWikitext(html::ReplaceInvalidUtf8(raw.text), gatherer_.hidden_prefixes)
                   : ReadWikitext(raw.text, gatherer_.hidden_prefixes);
    document.text = std::move(plain.text);
    document.headings = std::move(plain.headings);
    page->is_cut = raw.is_cut || plain.is_cut;
    CollectLinks(plain.links, page);
  }

  // Each target once, every text that leads to it as an anchor.
  void CollectLinks(const std::vector<WikiLink>& links, ConvertedPage* page) {
    CorpusDocument& document = page->document;
    std::set<std::string> targets;
    std::set<std::pair<std::string, std::string>> anchors;
    for (const WikiLink& link : links) {
      const std::string url = Url(link.target);
      if (url == document.url || url.size() > CorpusLimits::kUrlSizeMax) continue;
      if (document.links.size() == CorpusLimits::kLinksMax && !targets.contains(url)) {
        page->is_cut = true;
        continue;
      }
      if (targets.insert(url).second) document.links.push_back(url);
      std::string text(neptune::TruncateUtf8(link.text, CorpusLimits::kAnchorTextSizeMax));
      if (text.empty() || document.anchors.size() == CorpusLimits::kLinksMax) continue;
      if (anchors.insert({url, text}).second) document.anchors.push_back({url, std::move(text)});
    }
  }

  ByteSource* const source_;
  const DumpOptions options_;
  PageGatherer gatherer_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  std::string prefix_;
  Status status_;
  uint64_t fed_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<DumpReader> MakeWikiDumpReader(ByteSource* source, const DumpOptions& options) {
  return std::make_unique<WikiDumpReader>(source, options);
}

}  // namespace search::tools
