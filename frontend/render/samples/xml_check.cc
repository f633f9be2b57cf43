#include "frontend/render/samples/xml_check.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include <utility>

namespace search::frontend {
namespace {

const xmlChar* Xml(const char* text) { return reinterpret_cast<const xmlChar*>(text); }
const char* Chars(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

void AppendSkeleton(const xmlNode* node, std::string* out) {
  for (; node != nullptr; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    *out += Chars(node->name);
    for (const xmlAttr* attribute = node->properties; attribute; attribute = attribute->next) {
      *out += ' ';
      *out += Chars(attribute->name);
    }
    *out += '\n';
    AppendSkeleton(node->children, out);
  }
}

}  // namespace

class XmlDocument::Rep {
 public:
  explicit Rep(xmlDocPtr document) : document(document) {}
  ~Rep() { xmlFreeDoc(document); }
  const xmlDocPtr document;
};

XmlDocument::XmlDocument(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
XmlDocument::~XmlDocument() = default;

neptune::StatusOr<std::unique_ptr<XmlDocument>> XmlDocument::Parse(std::string_view xml) {
  const xmlDocPtr document =
      xmlReadMemory(xml.data(), static_cast<int>(xml.size()), nullptr, nullptr,
                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE);
  if (document == nullptr) {
    const xmlErrorPtr error = xmlGetLastError();
    return neptune::InvalidArgument("xml line ", error == nullptr ? 0 : error->line, ": ",
                                    error == nullptr ? "unknown" : error->message);
  }
  return std::unique_ptr<XmlDocument>(new XmlDocument(std::make_unique<Rep>(document)));
}

std::vector<std::string> XmlDocument::Values(const char* xpath) const {
  std::vector<std::string> values;
  const xmlXPathContextPtr context = xmlXPathNewContext(rep_->document);
  xmlXPathRegisterNs(context, Xml("atom"), Xml("http://www.w3.org/2005/Atom"));
  xmlXPathRegisterNs(context, Xml("os"), Xml("http://a9.com/-/spec/opensearch/1.1/"));
  xmlXPathRegisterNs(context, Xml("problem"), Xml("urn:ietf:rfc:7807"));
  const xmlXPathObjectPtr result = xmlXPathEvalExpression(Xml(xpath), context);
  const xmlNodeSetPtr nodes = result == nullptr ? nullptr : result->nodesetval;
  for (int i = 0; nodes != nullptr && i < nodes->nodeNr; ++i) {
    xmlChar* const content = xmlNodeGetContent(nodes->nodeTab[i]);
    values.emplace_back(Chars(content));
    xmlFree(content);
  }
  xmlXPathFreeObject(result);
  xmlXPathFreeContext(context);
  return values;
}

std::string XmlDocument::Value(const char* xpath) const {
  std::vector<std::string> values = Values(xpath);
  return values.empty() ? std::string() : std::move(values[0]);
}

std::string XmlDocument::Skeleton() const {
  std::string out;
  AppendSkeleton(xmlDocGetRootElement(rep_->document), &out);
  return out;
}

}  // namespace search::frontend
