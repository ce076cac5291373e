// CSV files as spreadsheets, editors and accidents write them.
#include "platforms/table/csv.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "tests/platforms/files.h"

namespace trnsim {
namespace {

using sample::Files;
using sample::input_error;
using namespace std::string_literals;

using Table = std::vector<std::vector<std::string>>;

Table texts(const CsvFile& file) {
  Table table;
  for (const CsvRow& row : file.rows) {
    table.emplace_back();
    for (const Field& field : row.fields) table.back().push_back(field.text);
  }
  return table;
}

TEST(Csv, ByteDifferentFilesWithTheSameFieldsAreTheSameTable) {
  const Table expected = {{"one", "1", "a, b"}, {"two", "2", ""}};
  const std::array<std::string, 9> variants = {
      "name,value,note\none,1,\"a, b\"\ntwo,2,\n",                          // LF
      "name,value,note\r\none,1,\"a, b\"\r\ntwo,2,\r\n",                    // CRLF
      "\xEF\xBB\xBFname,value,note\none,1,\"a, b\"\ntwo,2,\n",              // byte-order mark
      "name,value,note\none,1,\"a, b\"\ntwo,2,",                            // no final newline
      "name,value,note\r\none,1,\"a, b\"\r\ntwo,2,\r",                      // no final LF
      "name,value,note,\none,1,\"a, b\",\ntwo,2,,\n",                       // trailing comma
      "name , value,note\n one,1 ,\t\"a, b\"\ntwo,  2 , \n",                // spaces around fields
      "\"name\",\"value\",\"note\"\n\"one\",\"1\",\"a, b\"\n\"two\",2,\n",  // quoted fields
      "# comment\n\nname,value,note\n  # another\none,1,\"a, b\"\n\ntwo,2,\n",
  };
  const Files files;
  for (const std::string& text : variants) {
    EXPECT_EQ(texts(read_csv(files.write("t.csv", text), {"name", "value", "note"})), expected) << text;
  }
}

TEST(Csv, FieldsKnowTheirLineAndColumn) {
  const Files files;
  const CsvFile file = read_csv(files.write("t.csv", "a,b,c\n# comment\n1,\"\xC3\xA9\",  x\n"));
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows[0].line, 3U);
  EXPECT_EQ(file.rows[0].fields[1].column, 3U);
  EXPECT_EQ(file.rows[0].fields[2].column, 9U);  // characters, not bytes; spaces skipped
  EXPECT_EQ(file.at(file.rows[0], 2, "wrong"), files.path("t.csv") + ":3:9: wrong");
}

TEST(Csv, DoubledQuotesAreOne) {
  const Files files;
  EXPECT_EQ(texts(read_csv(files.write("t.csv", "a\n\"say \"\"yes\"\"\"\n"))), (Table{{"say \"yes\""}}));
}

TEST(Csv, QuotingSurvivesAReading) {
  const Files files;
  for (const std::string text : {"plain", "a, b", "say \"yes\"", " spaced ", "# no comment", "4\xC2\xB5s"}) {
    const CsvFile file = read_csv(files.write("t.csv", "x,y\n" + csv_quote(text) + ",1\n"));
    ASSERT_EQ(file.rows.size(), 1U) << text;
    EXPECT_EQ(file.rows[0].fields[0].text, text);
  }
}

TEST(Csv, BadFilesAreRefusedAtTheirPlace) {
  struct Case {
    std::string text;
    const char* message;  ///< after the path
  };
  const std::array cases = std::to_array<Case>({
      {"", ":1:1: the file is empty; begin with a header row"},
      {"\n\n# only a comment\n", ":1:1: the file is empty; begin with a header row"},
      {"a,b\n1\n", ":2:1: the row ends before column 'b'; write 2 fields"},
      {"a,b,c\n1,2\n", ":2:3: the row ends before column 'c'; write 3 fields"},
      {"a,b\n1,2,3\n", ":2:5: the row has 3 fields, the header 2; quote a field that holds a comma"},
      {"a,b\n1,\"2\n", ":2:3: the quote is not closed; end the field with \""},
      {"a,b\n1,\"two\nlines\"\n", ":2:3: the quote is not closed; end the field with \""},
      {"a,b\n1,\"2\"3\n", ":2:3: text follows the closing quote; quote the whole field or none of it"},
      {"a,b\n1,\0002\n"s, ":2:3: a NUL byte; save the file as plain text"},
      {"\0a\0,\0b\0"s, ":1:1: a NUL byte; save the file as plain text"},
      {"a,b\r1,2\r", ":1:4: a carriage return inside the line; end lines with LF or CRLF"},
      {"a,b\n1," + std::string(70'000, 'x') + "\n", ":2:1: the line is longer than 64 KiB; shorten it"},
      {"a,b\n1," + std::string(70'000, 'x'), ":2:1: the line is longer than 64 KiB; shorten it"},
  });
  const Files files;
  for (const Case& c : cases) {
    const std::string path = files.write("t.csv", c.text);
    const std::string message = input_error([&] { static_cast<void>(read_csv(path)); });
    EXPECT_EQ(message.substr(0, path.size() + std::string(c.message).size()), path + c.message);
  }
}

TEST(Csv, ALineOf64KiBIsStillRead) {
  const Files files;
  const std::string line = "1," + std::string(65'533, 'x') + "\n";
  ASSERT_EQ(line.size(), 65'536U);
  EXPECT_EQ(texts(read_csv(files.write("t.csv", "a,b\n" + line)))[0][1].size(), 65'533U);
}

TEST(Csv, WhatIsNoFileIsRefusedByName) {
  const Files files;
  const auto refusal = [](const std::string& path) { return input_error([&] { static_cast<void>(read_csv(path)); }); };
  EXPECT_EQ(refusal(files.path("none.csv")), files.path("none.csv") + ": no such file; check the path");
  EXPECT_EQ(refusal(files.path("")), files.path("") + ": is a directory; name a CSV file");
  EXPECT_EQ(refusal("/dev/null"), "/dev/null: is no regular file; name a CSV file");
  const std::string large = files.write("large.csv", "a\n");
  std::filesystem::resize_file(large, (256ULL << 20) + 1);  // sparse: takes no disk
  EXPECT_EQ(refusal(large), large + ": is larger than 256 MiB; split it");
}

TEST(Csv, AFixedHeaderIsHeldToItsNames) {
  const Files files;
  const std::string path = files.write("t.csv", "name,valeu\n");
  EXPECT_EQ(input_error([&] {
              static_cast<void>(read_csv(path, {"name", "value"}));
            }),
            path + ":1:6: the header has 'valeu' where 'value' belongs; the header must be name,value");
}

}  // namespace
}  // namespace trnsim
