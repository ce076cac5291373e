#include "sweeps/trace_request.h"

#include <gtest/gtest.h>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

TEST(TraceRequest, ReadsRanksWindowAndLimit) {
  const auto request = trace_request({"t.json", "3,0,12", "1.5us:2ms", "1GiB"});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->ranks, (std::vector<std::uint32_t>{0, 3, 12}));
  EXPECT_EQ(request->from, Time(1'500'000));
  EXPECT_EQ(request->to, Time(2'000'000'000));
  EXPECT_EQ(request->limit_bytes, std::uint64_t{1} << 30);
}

TEST(TraceRequest, IsOfEverythingByDefaultAndNothingWithoutAFile) {
  const auto request = trace_request({"t.json", "", "", ""});
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->ranks.empty());
  EXPECT_EQ(request->from, Time());
  EXPECT_GT(request->to, Time(1'000'000'000'000'000));
  EXPECT_FALSE(trace_request({}));
}

TEST(TraceRequest, RefusesWhatMakesNoSense) {
  struct Case {
    TraceOptions options;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{
           {{"", "0", "", ""}, "give --trace FILE too"},
           {{"", "", "1us:2us", ""}, "give --trace FILE too"},
           {{"", "", "", "1GB"}, "give --trace FILE too"},
           {{"t", "0,", "", ""}, "'' is no rank"},
           {{"t", "a", "", ""}, "'a' is no rank"},
           {{"t", "-1", "", ""}, "'-1' is no rank"},
           {{"t", "5000000000", "", ""}, "'5000000000' is no rank"},
           {{"t", "1,2,1", "", ""}, "rank 1 stands twice"},
           {{"t", "", "10us", ""}, "FROM:TO"},
           {{"t", "", "20us:10us", ""}, "ends at or before its begin"},
           {{"t", "", "10us:10us", ""}, "ends at or before its begin"},
           {{"t", "", "-1us:10us", ""}, "-1 is negative"},
           {{"t", "", "10:20us", ""}, "unit is missing"},
           {{"t", "", "10us:20GHz", ""}, "GHz"},
           {{"t", "", "10us:", ""}, "--trace-window 10us:"},
           {{"t", "", "", "512"}, "unit is missing"},
           {{"t", "", "", "1kB"}, "too small"},
           {{"t", "", "", "-1GB"}, "--trace-limit -1GB"},
       }) {
    try {
      static_cast<void>(trace_request(c.options));
      ADD_FAILURE() << "taken: " << c.options.ranks << c.options.window << c.options.limit;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(c.says), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace trnsim
