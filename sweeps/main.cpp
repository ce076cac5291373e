// The command line: the only file that knows Boost.Program_options.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <systemc>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"
#include "sweeps/commands.h"
#include "sweeps/text_table.h"

namespace {

namespace po = boost::program_options;
using namespace trnsim;

constexpr std::string_view kAnyNumber = "files";  // of positional arguments
constexpr std::string_view kOptional = "text";    // positional argument

struct Command {
  std::string_view usage;
  std::string_view summary;
  std::vector<std::string> positional;  ///< names of positional arguments; "files" takes any number, "text" may lack
  std::function<void(po::options_description&)> options;
  std::function<int(const po::variables_map&)> execute;
};

/// What was given for option `name`, or nothing if it was not. Throws InputError if nothing was given for it.
std::string text(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) return {};
  const std::string& given = values[name].as<std::string>();
  if (given.empty()) throw InputError(std::string("--") + name + ": is empty; leave it out, or give it a value");
  return given;
}

std::string argument(const po::variables_map& values, const char* name) {
  return values[name].as<std::string>();
}

std::vector<Setting> settings(const po::variables_map& values) {
  std::vector<Setting> list;
  if (values.count("set") == 0) return list;
  for (const std::string& entry : values["set"].as<std::vector<std::string>>()) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
      throw InputError("--set " + entry + ": not of the form name=value; write for example --set tp=16");
    }
    const std::string name = entry.substr(0, equals);
    if (std::any_of(list.begin(), list.end(), [&](const Setting& earlier) { return earlier.name == name; })) {
      throw InputError("--set " + entry + ": " + name + " is set twice; keep one");
    }
    list.push_back({name, entry.substr(equals + 1), "--set"});
  }
  return list;
}

std::string required(const po::variables_map& values, const char* name) {
  if (values.count(name) == 0) throw InputError(std::string("--") + name + " is missing; see `trnsim run --help`");
  return text(values, name);
}

bool wants_csv(const po::variables_map& values) {
  const std::string format = text(values, "format");
  if (format == "csv") return true;
  if (format == "table") return false;
  throw InputError("--format " + format + ": unknown format; use table or csv");
}

std::size_t jobs(const po::variables_map& values) {
  const long count = values["jobs"].as<long>();
  if (count < 1 || count > 4096) throw InputError("--jobs " + std::to_string(count) + ": out of range; use 1 to 4096");
  return static_cast<std::size_t>(count);
}

std::chrono::milliseconds limit(const po::variables_map& values) {
  if (values.count("timeout") == 0) return {};
  const std::string text = values["timeout"].as<std::string>();
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0.001 && seconds <= 1e6)) {
    throw InputError("--timeout " + text + ": out of range; use 0.001 to 1000000 seconds");
  }
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

void add_timeout(po::options_description& options) {
  options.add_options()("timeout", po::value<std::string>()->value_name("SECONDS"),
                        "give a point up after this wall time (status timeout)");
}

void add_set(po::options_description& options) {
  options.add_options()("set", po::value<std::vector<std::string>>()->composing()->value_name("NAME=VALUE"),
                        "set a platform, workload or run parameter");
}
void add_jobs(po::options_description& options) {
  options.add_options()("jobs",
                        po::value<long>()->default_value(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)))->value_name("N"),
                        "points at a time");
}
void add_trace(po::options_description& options) {
  options.add_options()("trace", po::value<std::string>()->value_name("FILE"),
                        "write a timeline that ui.perfetto.dev opens; compressed if FILE ends with .gz")(
      "trace-ranks", po::value<std::string>()->value_name("R,R..."), "of these ranks alone, for example 0,3")(
      "trace-window", po::value<std::string>()->value_name("FROM:TO"), "of this time alone, for example 10us:20us")(
      "trace-limit", po::value<std::string>()->value_name("SIZE"),
      ("largest timeline before compression (default " + std::string(kDefaultTraceLimit) + ")").c_str());
}

std::optional<TraceRequest> trace(const po::variables_map& values) {
  return trace_request(
      {text(values, "trace"), text(values, "trace-ranks"), text(values, "trace-window"), text(values, "trace-limit")});
}

void add_format(po::options_description& options) {
  options.add_options()("format", po::value<std::string>()->default_value("table")->value_name("table|csv"),
                        "what goes to standard output");
}

std::map<std::string, Command> commands() {
  std::map<std::string, Command> all;
  all["run"] = {
      "run --platform P --workload W [--set name=value]... [--out DIR] [--trace FILE] [--timeout SECONDS] "
      "[--format table|csv]",
      "run one point",
      {},
      [](po::options_description& o) {
        o.add_options()("platform", po::value<std::string>()->value_name("P"), "name or path of a platform")(
            "workload", po::value<std::string>()->value_name("W"), "name or path of a workload")(
            "out", po::value<std::string>()->value_name("DIR"), "write a results folder");
        add_trace(o);
        add_set(o);
        add_timeout(o);
        add_format(o);
      },
      [](const po::variables_map& v) {
        return run({required(v, "platform"), required(v, "workload"), settings(v), text(v, "out"), wants_csv(v),
                    limit(v), trace(v)});
      }};
  all["sweep"] = {
      "sweep FILE.csv [--out DIR] [--jobs N] [--timeout SECONDS] [--dry-run] [--set name=value]... [--format "
      "table|csv]",
      "run the points of a sweep file",
      {"file"},
      [](po::options_description& o) {
        o.add_options()("out", po::value<std::string>()->value_name("DIR"),
                        "results folder (default results/runs/<name of the file>)")("dry-run",
                                                                                    "print the points and stop");
        add_jobs(o);
        add_set(o);
        add_timeout(o);
        add_format(o);
      },
      [](const po::variables_map& v) {
        const std::string file = argument(v, "file");
        std::string out = text(v, "out");
        if (out.empty()) {
          const std::size_t slash = file.rfind('/');
          const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
          out = "results/runs/" + base.substr(0, base.rfind('.'));
        }
        return sweep({file, settings(v), out, jobs(v), v.count("dry-run") > 0, wants_csv(v), limit(v)});
      }};
  all["validate"] = {
      "validate [FILE.csv]... [--filter PREFIX] [--out DIR] [--docs DIR] [--record-first] [--shrink-misses] [--jobs N] "
      "[--timeout SECONDS] [--set name=value]... [--format table|csv]",
      "run published measurements: the error of each, of each group and of each class",
      {"files"},
      [](po::options_description& o) {
        o.add_options()("filter", po::value<std::string>()->value_name("PREFIX"), "only ids that begin with this")(
            "out", po::value<std::string>()->value_name("DIR"), "write a results folder")(
            "docs", po::value<std::string>()->value_name("DIR"), "write DIR/validation.md and its plot")(
            "record-first", "add predictions to first_run.csv where there is none yet")(
            "shrink-misses", "lower the errors of known_misses.csv to those of this run, remove what is within bounds");
        add_jobs(o);
        add_set(o);
        add_timeout(o);
        add_format(o);
      },
      [](const po::variables_map& v) {
        const auto files =
            v.count("files") > 0 ? v["files"].as<std::vector<std::string>>() : std::vector<std::string>();
        return validate({files, settings(v), text(v, "filter"), text(v, "out"), text(v, "docs"),
                         v.count("record-first") > 0, v.count("shrink-misses") > 0, jobs(v), wants_csv(v), limit(v)});
      }};
  all["list"] = {"list platforms|workloads|models|parameters|metrics|kernels|collectives|topologies [TEXT]",
                 "list what there is, or what has TEXT in its name",
                 {"what", "text"},
                 nullptr,
                 [](const po::variables_map& v) { return list(argument(v, "what"), text(v, "text")); }};
  all["show"] = {"show P|W [--set name=value]...",
                 "every resolved parameter of a platform or workload, with its source",
                 {"name"},
                 add_set,
                 [](const po::variables_map& v) { return show(argument(v, "name"), settings(v)); }};
  all["claims"] = {"claims DIR",
                   "print what a talk claims of attention beside what the sweep of it in DIR came to",
                   {"dir"},
                   {},
                   [](const po::variables_map& v) { return claims(argument(v, "dir")); }};
  all["report"] = {"report DIR [--out FILE.html]",
                   "write a self-contained page about a results folder",
                   {"dir"},
                   [](po::options_description& o) {
                     o.add_options()("out", po::value<std::string>()->value_name("FILE.html"),
                                     "default DIR/report.html");
                   },
                   [](const po::variables_map& v) { return report(argument(v, "dir"), text(v, "out")); }};
  return all;
}

std::string usage() {
  std::string help =
      "trnsim models AWS Trainium machines: how much of its peak a design sustains, and at what power.\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, command] : commands()) rows.push_back({"  trnsim " + name, std::string(command.summary)});
  return help + aligned(rows, false) + "\n`trnsim COMMAND --help` tells more. `trnsim --version` prints the version.\n";
}

std::string nearest_of(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return nearest(word, views);
}

int unknown_command(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, command] : commands()) names.push_back(known);
  const std::string near = nearest_of(name, names);
  throw InputError("unknown command '" + name + "'; " +
                   (near.empty() ? "see `trnsim --help`" : "did you mean " + near + "?"));
}

po::options_description options_of(const Command& command) {
  po::options_description options("options");
  options.add_options()("help", "print this");
  if (command.options) command.options(options);
  return options;
}

po::variables_map parse(const Command& command, const std::vector<std::string>& arguments) {
  po::options_description visible = options_of(command);
  po::options_description all;
  all.add(visible);
  po::positional_options_description positions;
  for (const std::string& name : command.positional) {
    if (name == kAnyNumber) {
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>());
      positions.add(name.c_str(), -1);
      continue;
    }
    all.add_options()(name.c_str(), po::value<std::string>());
    positions.add(name.c_str(), 1);
  }
  po::variables_map values;
  try {
    using namespace po::command_line_style;
    po::store(
        po::command_line_parser(arguments).options(all).positional(positions).style(unix_style & ~allow_guessing).run(),
        values);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> names;
    for (const auto& option : visible.options()) names.push_back("--" + option->long_name());
    const std::string near = nearest_of(error.get_option_name(), names);
    throw InputError(
        "unknown option " + error.get_option_name() + "; " +
        (near.empty() ? "the command is `trnsim " + std::string(command.usage) + "`" : "did you mean " + near + "?"));
  } catch (const po::error& error) {
    throw InputError(std::string(error.what()) + "; the command is `trnsim " + std::string(command.usage) + "`");
  }
  if (values.count("help") > 0) return values;
  for (const std::string& name : command.positional) {
    if (values.count(name) == 0 && name != kAnyNumber && name != kOptional) {
      throw InputError("an argument is missing; the command is `trnsim " + std::string(command.usage) + "`");
    }
  }
  return values;
}

int execute(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print(usage());
    return arguments.empty() ? kBadInput : kGood;
  }
  if (arguments[0] == "--version") {
    print("trnsim " TRNSIM_VERSION "\n");
    return kGood;
  }
  const std::map<std::string, Command> all = commands();
  const auto found = all.find(arguments[0]);
  if (found == all.end()) return unknown_command(arguments[0]);
  const Command& command = found->second;
  const po::variables_map values = parse(command, {arguments.begin() + 1, arguments.end()});
  if (values.count("help") > 0) {
    std::ostringstream help;
    help << "trnsim " << command.usage << "\n\n" << options_of(command);
    print(help.str());
    return kGood;
  }
  return command.execute(values);
}

/// A closed standard stream would lend its number to the next file opened: whatever is printed would land there.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const int null = open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);  // writing rows must fail
    if (null >= 0 && null != stream) {
      dup2(null, stream);
      close(null);
    }
  }
}

}  // namespace

// libsystemc refers to it; points call simulate() in their own children instead.
int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}

int main(int argc, char* argv[]) {
  hold_standard_streams();
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_DFL);  // a script's background job would inherit that it is ignored
  try {
    return execute({argv + 1, argv + argc});
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    std::fprintf(stderr, "%s: %s; check the path\n", error.path1().c_str(), error.code().message().c_str());
    return kBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trnsim: %s\n", error.what());
    return kSimulationFailed;
  }
}
