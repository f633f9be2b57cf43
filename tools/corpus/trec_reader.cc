#include "tools/corpus/trec_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/html/utf8.h"
#include "neptune/base/utf8.h"
#include "tools/corpus/wikitext.h"

namespace search::tools {
namespace {

using neptune::StatusOr;

constexpr size_t kBlockSize = size_t{64} << 10;
constexpr size_t kNotFound = std::string_view::npos;
constexpr size_t kTagNameSizeMax = 16;
constexpr size_t kTagSizeMax = 2048;

constexpr std::array<std::string_view, 5> kTitleTags = {"title", "ttl", "headline", "hl", "head"};
constexpr std::array<std::string_view, 3> kHiddenTags = {"dochdr", "script", "style"};

template <typename List>
bool Has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// A tag at `at`: its name in lower case, with '/' before that of an end tag; empty if '<' is an
// ordinary character.
struct Tag {
  std::string name;
  size_t end = 0;  // just after it

  bool is_end() const { return name.starts_with('/'); }
  std::string_view bare() const { return std::string_view(name).substr(is_end() ? 1 : 0); }
};

Tag TagAt(std::string_view in, size_t at) {
  Tag tag;
  size_t i = at + 1;
  if (i < in.size() && in[i] == '/') tag.name.push_back(in[i++]);
  for (; i < in.size() && tag.name.size() <= kTagNameSizeMax; ++i) {
    const char c = Lower(in[i]);
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) break;
    tag.name.push_back(c);
  }
  const size_t close = in.substr(0, std::min(in.size(), at + kTagSizeMax)).find_first_of("<>", i);
  if (tag.bare().empty() || tag.name.starts_with("/0") || close == kNotFound || in[close] == '<')
    return {};
  tag.end = close + 1;
  return tag;
}

// Collects the document's parts from front to back.
class TrecDocument {
 public:
  explicit TrecDocument(std::string_view in) {
    for (size_t at = 0; at < in.size();) {
      const size_t next = std::min(in.find('<', at), in.size());
      Take(in.substr(at, next - at));
      if (next == in.size()) break;
      const Tag tag = TagAt(in, next);
      if (tag.name.empty()) {
        Take("<");
        at = next + 1;
      } else {
        Enter(tag);
        at = tag.end;
      }
    }
  }

  std::string number() const {
    return html::CollapseSpace(number_.substr(0, number_.find('\n', 1)));
  }
  std::string title() const { return html::CollapseSpace(DecodeEntities(title_)); }
  std::string text() const { return Lines(DecodeEntities(has_text_ ? text_ : all_)); }

 private:
  enum class Place { kOther, kNumber, kTitle, kText, kHidden };

  void Enter(const Tag& tag) {
    const std::string_view name = tag.bare();
    if (place_ == Place::kHidden && !(tag.is_end() && name == hidden_name_)) return;
    if (name == "docno") {
      place_ = tag.is_end() ? Place::kOther : Place::kNumber;
    } else if (name == "text") {
      place_ = tag.is_end() ? Place::kOther : Place::kText;
      has_text_ = true;
    } else if (Has(kTitleTags, name)) {
      const bool is_first = title_.empty() && !tag.is_end();
      place_ = is_first ? Place::kTitle : has_text_ ? Place::kText : Place::kOther;
    } else if (Has(kHiddenTags, name)) {
      place_ = tag.is_end() ? Place::kOther : Place::kHidden;
      hidden_name_ = name;
    } else if (place_ == Place::kNumber || (place_ == Place::kTitle && name != "p")) {
      place_ = Place::kOther;  // it was not closed
    } else if (name == "p" || name == "br" || name == "h1" || name == "h2" || name == "h3") {
      Take("\n");
    } else {
      Take(" ");
    }
  }

  void Take(std::string_view text) {
    if (place_ == Place::kNumber) number_ += text;
    if (place_ == Place::kTitle) title_ += text;
    if (place_ == Place::kText) text_ += text;
    if (place_ != Place::kNumber && place_ != Place::kHidden) all_ += text;
  }

  // An empty line ends a paragraph; other line breaks are spaces.
  static std::string Lines(const std::string& in) {
    std::string text;
    std::string paragraph;
    const auto end_paragraph = [&] {
      const std::string line = html::CollapseSpace(paragraph);
      if (!line.empty() && !text.empty()) text.push_back('\n');
      text += line;
      paragraph.clear();
    };
    for (std::string_view rest = in; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (html::CollapseSpace(line).empty()) end_paragraph();
      paragraph.append(line).push_back(' ');
    }
    end_paragraph();
    return text;
  }

  Place place_ = Place::kOther;
  std::string hidden_name_;
  bool has_text_ = false;
  std::string number_;
  std::string title_;
  std::string text_;
  std::string all_;
};

class TrecReader : public DumpReader {
 public:
  TrecReader(ByteSource* source, DumpOptions options)
      : source_(source), options_(std::move(options)) {}

  StatusOr<bool> Next(bool is_wanted, ConvertedPage* page) override {
    *page = {};
    std::string raw;
    bool is_cut = false;
    NEPTUNE_ASSIGN_OR_RETURN(const bool found, PassTo("doc", nullptr, nullptr));
    if (!found && !inside_) return false;
    inside_ = false;
    NEPTUNE_RETURN_IF_ERROR(PassTo("/doc", &raw, &is_cut).status());
    if (is_wanted) Convert(raw, is_cut, page);
    return true;
  }

 private:
  // Moves after the next tag `name`; the text before it is appended to *taken. False at the end of
  // the file, and, with inside_ set, at the beginning of another document.
  StatusOr<bool> PassTo(std::string_view name, std::string* taken, bool* is_cut) {
    if (inside_ && name == "doc") return false;
    while (true) {
      const size_t at = std::min(buffer_.find('<', at_), buffer_.size());
      Append(std::string_view(buffer_).substr(at_, at - at_), taken, is_cut);
      at_ = at;
      if (buffer_.size() - at_ < kTagSizeMax && !ended_) {
        NEPTUNE_RETURN_IF_ERROR(Fill());
        continue;
      }
      if (at_ == buffer_.size()) return false;
      const Tag tag = TagAt(buffer_, at_);
      if (tag.name == name || tag.name == "doc") {
        at_ = tag.end;
        inside_ = tag.name != name;
        return tag.name == name;
      }
      Append("<", taken, is_cut);
      ++at_;
    }
  }

  static void Append(std::string_view text, std::string* taken, bool* is_cut) {
    if (taken == nullptr) return;
    const size_t room = kTrecDocumentSizeMax - taken->size();
    *is_cut = *is_cut || text.size() > room;
    taken->append(text.substr(0, room));
  }

  neptune::Status Fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    const size_t used = buffer_.size();
    buffer_.resize(used + kBlockSize);
    NEPTUNE_ASSIGN_OR_RETURN(const size_t got, source_->Read(buffer_.data() + used, kBlockSize));
    buffer_.resize(used + got);
    ended_ = got == 0;
    return neptune::OkStatus();
  }

  void Convert(const std::string& raw, bool is_cut, ConvertedPage* page) const {
    const std::string utf8 = html::IsValidUtf8(raw) ? raw : html::Windows1252ToUtf8(raw);
    const TrecDocument parts(utf8);
    CorpusDocument& document = page->document;
    document.url = options_.url_prefix + parts.number();
    if (parts.number().empty() || document.url.size() > CorpusLimits::kUrlSizeMax) {
      page->status = neptune::InvalidArgument("the document has no usable DOCNO");
      return;
    }
    document.site = options_.site;
    document.title = neptune::TruncateUtf8(parts.title(), CorpusLimits::kTitleSizeMax);
    document.text = parts.text();
    page->is_cut = is_cut || document.text.size() > CorpusLimits::kTextSizeMax;
    document.text.resize(neptune::TruncateUtf8(document.text, CorpusLimits::kTextSizeMax).size());
  }

  ByteSource* const source_;
  const DumpOptions options_;
  std::string buffer_;
  size_t at_ = 0;
  bool ended_ = false;
  bool inside_ = false;  // a document has begun where another was not closed
};

}  // namespace

std::unique_ptr<DumpReader> MakeTrecReader(ByteSource* source, const DumpOptions& options) {
  return std::make_unique<TrecReader>(source, options);
}

}  // namespace search::tools
