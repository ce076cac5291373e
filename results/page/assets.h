// Style, script and chart library of the report, embedded when the program is built.
#pragma once

#include <string_view>

namespace trnsim::page {

extern const std::string_view kStyle;         ///< results/page/report.css
extern const std::string_view kTools;         ///< results/page/tools.js
extern const std::string_view kScript;        ///< results/page/report.js
extern const std::string_view kChartLibrary;  ///< Chart.js, from the system's libjs-chart.js

}  // namespace trnsim::page
