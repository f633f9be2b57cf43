// Streams of stdio, and calls of the C library that return memory to the program.

#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "neptune/interpose/sert/next.h"
#include "neptune/sert/code_ranges.h"

namespace neptune::sert {
namespace {

RequestRecord* OwnerFor(const void* caller) {
  RequestRecord* const record = accounting_record;
  return record == nullptr || library_code.Contains(caller) ? nullptr : record;
}

FILE* OpenedStream(RequestRecord* record, FILE* stream) {
  if (stream != nullptr) record->ledger.AddStream(stream);
  return stream;
}

// Scope in which memory that the C library allocates belongs to the request.
class LibraryCall {
 public:
  LibraryCall(RequestRecord* record, const void* caller)
      : region_(record, caller), record_(record) {
    ++record->library_call;
  }
  ~LibraryCall() { --record_->library_call; }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  const Region region_;
  RequestRecord* const record_;
};

}  // namespace
}  // namespace neptune::sert

using neptune::sert::LibraryCall;
using neptune::sert::Next;
using neptune::sert::OpenedStream;
using neptune::sert::OwnerFor;
using neptune::sert::Region;
using neptune::sert::RequestRecord;

#define NEPTUNE_OPENS_STREAM(name, parameters, arguments)                \
  NEPTUNE_SERT_SYMBOL FILE* name parameters {                            \
    static Next<FILE * parameters> next(#name);                          \
    RequestRecord* const record = OwnerFor(__builtin_return_address(0)); \
    if (record == nullptr) return next arguments;                        \
    const Region region(record, __builtin_return_address(0));            \
    return OpenedStream(record, next arguments);                         \
  }

NEPTUNE_OPENS_STREAM(fopen, (const char* path, const char* mode), (path, mode))
NEPTUNE_OPENS_STREAM(fopen64, (const char* path, const char* mode), (path, mode))
NEPTUNE_OPENS_STREAM(tmpfile, (), ())
NEPTUNE_OPENS_STREAM(tmpfile64, (), ())
NEPTUNE_OPENS_STREAM(fmemopen, (void* bytes, size_t size, const char* mode), (bytes, size, mode))

// The stream owns the descriptor from here on.
NEPTUNE_SERT_SYMBOL FILE* fdopen(int fd, const char* mode) {
  static Next<FILE*(int, const char*)> next("fdopen");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr) return next(fd, mode);
  const Region region(record, __builtin_return_address(0));
  FILE* const stream = next(fd, mode);
  if (stream != nullptr) record->ledger.RemoveDescriptor(fd);
  return OpenedStream(record, stream);
}
NEPTUNE_SERT_SYMBOL int fclose(FILE* stream) {
  static Next<int(FILE*)> next("fclose");
  RequestRecord* const record = neptune::sert::accounting_record;
  if (record == nullptr) return next(stream);
  const Region region(record, __builtin_return_address(0));
  record->ledger.RemoveStream(stream);
  return next(stream);
}

#define NEPTUNE_RETURNS_MEMORY(type, name, parameters, arguments)        \
  NEPTUNE_SERT_SYMBOL type name parameters {                             \
    static Next<type parameters> next(#name);                            \
    RequestRecord* const record = OwnerFor(__builtin_return_address(0)); \
    if (record == nullptr) return next arguments;                        \
    const LibraryCall call(record, __builtin_return_address(0));         \
    return next arguments;                                               \
  }

NEPTUNE_RETURNS_MEMORY(char*, strdup, (const char* text), (text))
NEPTUNE_RETURNS_MEMORY(char*, strndup, (const char* text, size_t size), (text, size))
NEPTUNE_RETURNS_MEMORY(int, vasprintf, (char** text, const char* format, va_list values),
                       (text, format, values))
NEPTUNE_RETURNS_MEMORY(int, __vasprintf_chk,
                       (char** text, int flags, const char* format, va_list values),
                       (text, flags, format, values))
NEPTUNE_RETURNS_MEMORY(ssize_t, getline, (char** line, size_t* size, FILE* stream),
                       (line, size, stream))
NEPTUNE_RETURNS_MEMORY(ssize_t, getdelim, (char** line, size_t* size, int end, FILE* stream),
                       (line, size, end, stream))
NEPTUNE_RETURNS_MEMORY(ssize_t, __getdelim, (char** line, size_t* size, int end, FILE* stream),
                       (line, size, end, stream))
NEPTUNE_RETURNS_MEMORY(char*, realpath, (const char* path, char* resolved), (path, resolved))
NEPTUNE_RETURNS_MEMORY(int, regcomp, (regex_t * regex, const char* pattern, int flags),
                       (regex, pattern, flags))
NEPTUNE_RETURNS_MEMORY(int, regexec,
                       (const regex_t* regex, const char* text, size_t count, regmatch_t* matches,
                        int flags),
                       (regex, text, count, matches, flags))

namespace {

int Print(char** text, const char* format, va_list values, const void* caller) {
  static Next<int(char**, const char*, va_list)> next("vasprintf");
  RequestRecord* const record = OwnerFor(caller);
  if (record == nullptr) return next(text, format, values);
  const LibraryCall call(record, caller);
  return next(text, format, values);
}

}  // namespace

NEPTUNE_SERT_SYMBOL int asprintf(char** text, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int size = Print(text, format, values, __builtin_return_address(0));
  va_end(values);
  return size;
}
NEPTUNE_SERT_SYMBOL int __asprintf_chk(char** text, int, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int size = Print(text, format, values, __builtin_return_address(0));
  va_end(values);
  return size;
}
