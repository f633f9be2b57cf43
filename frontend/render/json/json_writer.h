// Writes a JSON document into one buffer, value by value, without building a tree of it first.
//
//   JsonWriter json;
//   {
//     const JsonObject answer(json);
//     json.Member("query", query);
//     const JsonArray results(json, "results");
//     for (const Result& result : all) json.Value(result.title);
//   }
//   std::string text = json.Take();      // {"query":"...","results":["...","..."]}
//
// Written here rather than taken from a library; README.md says what was weighed.
// Source: RFC 8259.
// No I/O.
// Threads: thread-compatible.
// Errors: none. Each ill-formed part of a text that is not UTF-8 becomes U+FFFD; infinity and NaN,
//   which JSON lacks, become null.
// Limits: the document is at most six times its texts plus names and punctuation.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace search::frontend {

class JsonWriter {
 public:
  // `size`: bytes that the document is expected to have.
  explicit JsonWriter(size_t size = 1024) { out_.reserve(size); }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  // Name of the member of which the next value is. REQUIRES: in an object.
  void Name(std::string_view name);

  void Value(std::string_view text);
  void Value(const char* text) { Value(std::string_view(text)); }
  void Value(const std::string& text) { Value(std::string_view(text)); }
  void Value(double number);
  template <std::integral Number>
  void Value(Number number) {
    if constexpr (std::same_as<Number, bool>) {
      Token(number ? "true" : "false");
    } else if constexpr (std::unsigned_integral<Number>) {
      Unsigned(number);
    } else {
      Signed(number);
    }
  }
  void Null() { Token("null"); }
  // A value that is JSON text already. REQUIRES: it is well-formed.
  void Raw(std::string_view json) { Token(json); }

  // A text that is written in pieces. Piece returns how many code points it wrote.
  void BeginText();
  size_t Piece(std::string_view text);
  void EndText() { out_ += '"'; }

  template <typename T>
  void Member(std::string_view name, const T& value) {
    Name(name);
    Value(value);
  }
  template <typename Values>
  void ListMember(std::string_view name, const Values& values) {
    Name(name);
    BeginArray();
    for (const auto& value : values) Value(value);
    EndArray();
  }

  // Returns the document and clears the writer. REQUIRES: everything that was begun has ended.
  std::string Take();

 private:
  void Separate() {
    if (follows_value_) out_ += ',';
    follows_value_ = true;
  }
  void Token(std::string_view token) {
    Separate();
    out_ += token;
  }
  void Open(char bracket);
  void Close(char bracket);
  void Unsigned(uint64_t number);
  void Signed(int64_t number);

  std::string out_;
  size_t depth_ = 0;
  bool follows_value_ = false;  // the next value or name needs a comma before it
};

// Begins an object or array, as a member if it has a name, and ends it at the end of the scope.
class JsonObject {
 public:
  explicit JsonObject(JsonWriter& writer) : writer_(writer) { writer_.BeginObject(); }
  JsonObject(JsonWriter& writer, std::string_view name) : writer_(writer) {
    writer_.Name(name);
    writer_.BeginObject();
  }
  ~JsonObject() { writer_.EndObject(); }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

 private:
  JsonWriter& writer_;
};

class JsonArray {
 public:
  explicit JsonArray(JsonWriter& writer) : writer_(writer) { writer_.BeginArray(); }
  JsonArray(JsonWriter& writer, std::string_view name) : writer_(writer) {
    writer_.Name(name);
    writer_.BeginArray();
  }
  ~JsonArray() { writer_.EndArray(); }
  JsonArray(const JsonArray&) = delete;
  JsonArray& operator=(const JsonArray&) = delete;

 private:
  JsonWriter& writer_;
};

}  // namespace search::frontend
